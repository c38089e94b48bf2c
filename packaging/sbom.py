#!/usr/bin/env python3
"""Writes the SBOM of a Debian package of hearsay, SPDX 2.3 as JSON: sbom.py PROGRAM DEB HEADERS...

PROGRAM is the program in the package, whose shared libraries are listed. HEADERS are Debian packages of which headers alone are compiled in.
A package has the licence of the paragraph `Files: *` in its Debian copyright file, if SPDX knows that by name; otherwise the whole
file is its licence. The sources of hearsay state none.
"""
import datetime, hashlib, json, os, re, subprocess, sys

NAMES = {  # Debian's names of licences, in the words of SPDX
    "Apache-2.0": "Apache-2.0", "BSD-2-clause": "BSD-2-Clause", "BSD-3-clause": "BSD-3-Clause", "BSL-1.0": "BSL-1.0", "Expat": "MIT",
    "LGPL-2.1+": "LGPL-2.1-or-later", "Zlib": "Zlib", "BSD-3-clause or GPL-2": "BSD-3-Clause OR GPL-2.0-only",
}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def owner(path):
    """The Debian package of a file, whose database may know it with or without /usr."""
    real = os.path.realpath(path)
    places = {path, real, real.removeprefix("/usr")}
    found = subprocess.run(["dpkg-query", "-S", *places], capture_output=True, text=True).stdout
    if not found:
        sys.exit(f"sbom.py: no Debian package has {path}")
    return found.split(": ")[0].split(",")[0]


def licence(package, text, extracted):
    stanza = re.search(r"^Files: *\*\s*\n(?:.+\n)*?License: *(.*)$", text, re.M)
    if stanza and stanza[1] in NAMES:
        return NAMES[stanza[1]]
    name = f"LicenseRef-{package}"
    extracted.append({"licenseId": name, "name": f"The Debian copyright file of {package}", "extractedText": text})
    return name


def describe(package, extracted):
    name, version, source, source_version, arch, home = run("dpkg-query", "-W", "-f", "${Package}|${Version}|${source:Package}|"
                                                             "${source:Version}|${Architecture}|${Homepage}", package).split("|")
    with open(f"/usr/share/doc/{name}/copyright", encoding="utf-8") as file:
        text = file.read()
    return {
        "SPDXID": f"SPDXRef-{re.sub('[^A-Za-z0-9.-]', '-', name)}", "name": name, "versionInfo": version,
        "supplier": "Organization: Debian", "downloadLocation": f"https://snapshot.debian.org/package/{source}/{source_version}/",
        "sourceInfo": f"built from the Debian source package {source} {source_version}", "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION", "licenseDeclared": licence(re.sub("[^A-Za-z0-9.-]", "-", name), text, extracted),
        "licenseComments": f"/usr/share/doc/{name}/copyright", "copyrightText": "NOASSERTION",
        **({"homepage": home} if home else {}),
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": f"pkg:deb/debian/{name.replace('+', '%2B')}@{version.replace('+', '%2B').replace(':', '%3A')}?arch={arch}"}],
    }


def main(program, deb, *headers):
    with open(deb, "rb") as file:
        checksum = hashlib.sha256(file.read()).hexdigest()
    version = run("dpkg-deb", "-f", deb, "Version").strip()
    libraries = {owner(path) for path in re.findall(r"(?:=> |^\s+)(/\S+) \(", run("ldd", program), re.M)}
    extracted, packages, relations = [], [], [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-hearsay")]
    packages.append({"SPDXID": "SPDXRef-hearsay", "name": "hearsay", "versionInfo": version, "packageFileName": os.path.basename(deb),
                     "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "primaryPackagePurpose": "APPLICATION",
                     "checksums": [{"algorithm": "SHA256", "checksumValue": checksum}], "licenseConcluded": "NOASSERTION",
                     "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION"})
    for names, relation in ((libraries, "DYNAMIC_LINK"), (headers, "STATIC_LINK")):
        for name in sorted(names):
            packages.append(describe(name, extracted))
            relations.append(("SPDXRef-hearsay", relation, packages[-1]["SPDXID"]))
    now = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp())), datetime.timezone.utc)
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"hearsay-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/hearsay-{version}-{checksum}",
        "creationInfo": {"created": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: hearsay-packaging-sbom"]},
        "packages": packages, "hasExtractedLicensingInfos": extracted,
        "relationships": [{"spdxElementId": one, "relationshipType": how, "relatedSpdxElement": other} for one, how, other in relations],
    }
    with open(deb.removesuffix(".deb") + ".spdx.json", "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)


main(*sys.argv[1:])
