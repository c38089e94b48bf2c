#!/usr/bin/env bash
# Checks what an installation brings beside the program: check.sh PACKAGING HEARSAY UNIT
set -euo pipefail
packaging=$1 hearsay=$2 unit=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0 skipped=()
complain() {
    printf '%s\n' "$*"
    failures=$((failures + 1))
}
# Runs COMMAND if there is such a tool; what it prints, or its failure, is a complaint.
try() {
    if ! command -v "$1" >/dev/null; then
        skipped+=("$1")
        return
    fi
    local said
    said=$("$@" 2>&1) && [[ -z $said ]] || complain "$*: $said"
}

commands=$("$hearsay" help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' | sort)
[[ $commands == *$'\n'run$'\n'* ]] || complain "hearsay help lists no commands: $commands"

# The manual page has each command's help.
"$packaging/manpage.sh" "$hearsay" >"$work/hearsay.1" || complain "manpage.sh fails"
for command in $commands; do
    grep -qx ".SH \"HEARSAY ${command^^}\"" "$work/hearsay.1" || complain "the manual page has nothing on $command"
done
grep -q -- '\\-\\-trace' "$work/hearsay.1" || complain "the manual page has no options"
warnings_of() { MANWIDTH=100 man --warnings -l "$1" 2>&1 >/dev/null; }
if command -v man >/dev/null; then try warnings_of "$work/hearsay.1"; else skipped+=(man); fi

# Completion, as bash asks for it.
complete_with() (
    _init_completion() { cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD; }
    _filedir() { COMPREPLY=("files $*"); }
    source "$packaging/bash-completion"
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _hearsay "$1"
    printf '%s\n' "${COMPREPLY[@]}"
)
expect() {
    local want=$1
    shift
    local got
    got=$(complete_with "$hearsay" "$@" | sort | tr '\n' ' ')
    [[ ${got% } == "$want" ]] || complain "completing '$*' gives '$got', not '$want'"
}
expect "$({ printf '%s\n' --help --version; echo "$commands"; } | sort | tr '\n' ' ' | sed 's/ $//')" ''
expect 'replay' repl
expect 'replay' help repl
expect '--trace' replay --tra
expect 'files json' run ''
expect 'files ' run --config ''
expect 'files ' disk ''
expect '--check' disk --ch

# The image is built of all folders of the program, and the fuzz targets of files that are there.
root=$packaging/..
for folder in $(sed -n 's/^add_subdirectory(\([a-z]*\))$/\1/p' "$root/CMakeLists.txt"); do
    grep -qx "!$folder" "$root/.dockerignore" || complain ".dockerignore leaves $folder out"
done
for source in $(sed -n 's|foreach(name \(.*\))|\1|p' "$root/tests/fuzz/CMakeLists.txt"); do
    [[ -e $root/protocol/$source.cpp ]] || complain "tests/fuzz names protocol/$source.cpp"
done
for source in $(grep -o 'SOURCE_DIR}/[a-z_/0-9]*\.cpp' "$root/tests/fuzz/CMakeLists.txt"); do
    [[ -e $root/${source#*/} ]] || complain "tests/fuzz names ${source#*/}"
done

for script in "$packaging"/debian/{postinst,prerm,postrm}; do try sh -n "$script"; done
HEARSAY_CLUSTER_KEY= "$hearsay" check "$packaging/hearsay.json" >"$work/said" 2>&1 ||
    grep -q 'there is no folder /var/log/hearsay' "$work/said" || complain "the package's configuration: $(cat "$work/said")"

# The bill of materials names the libraries and headers, each with a licence that it defines or that SPDX knows.
if command -v dpkg-deb >/dev/null && [[ -r /usr/share/doc/libcli11-dev/copyright ]]; then
    mkdir -p "$work/deb/DEBIAN"
    printf '%s: hearsay\n' Package Maintainer Description >"$work/deb/DEBIAN/control"
    printf 'Version: 0.1.0\nArchitecture: all\n' >>"$work/deb/DEBIAN/control"
    dpkg-deb -b "$work/deb" "$work/hearsay.deb" >/dev/null
    "$packaging/sbom.py" "$hearsay" "$work/hearsay.deb" libcli11-dev || complain "sbom.py fails"
    python3 - "$work/hearsay.spdx.json" <<'PYTHON' || complain "the bill of materials is wrong"
import json, re, sys
sbom = json.load(open(sys.argv[1]))
packages = {one["name"]: one for one in sbom["packages"]}
defined = {one["licenseId"] for one in sbom["hasExtractedLicensingInfos"] if len(one["extractedText"]) > 100}
used = {name for one in packages.values() for name in re.findall(r"LicenseRef-[\w.-]+", one["licenseDeclared"])}
assert used == defined, used ^ defined
assert packages["hearsay"]["licenseDeclared"] == "NOASSERTION" and packages["libssl3"]["licenseDeclared"] == "Apache-2.0"
assert packages["libcli11-dev"]["downloadLocation"].startswith("https://snapshot.debian.org/package/cli11/")
linked = [one for one in sbom["relationships"] if one["relationshipType"] == "DYNAMIC_LINK"]
assert len(linked) == len(packages) - 2 and "libc6" in packages and "libnghttp2-14" in packages
PYTHON
    if command -v pyspdxtools >/dev/null; then try pyspdxtools -i "$work/hearsay.spdx.json"; fi
else
    skipped+=(dpkg-deb)
fi

# The unit's program and user are those of an installed system: only what systemd cannot know here is left out.
if command -v systemd-analyze >/dev/null; then
    sed -e "s|^ExecStart=[^ ]*|ExecStart=$hearsay|" -e '/^User=/d' -e '/^Group=/d' -e '/^Documentation=/d' "$unit" >"$work/hearsay.service"
    said=$(systemd-analyze verify --man=no "$work/hearsay.service" 2>&1 | grep -F hearsay.service || true)
    [[ -z $said ]] || complain "systemd-analyze verify: $said"
else
    skipped+=(systemd-analyze)
fi

((!failures)) || exit 1
((!${#skipped[@]})) || { echo "skipped what needs ${skipped[*]}"; exit 77; }
echo "in order"
