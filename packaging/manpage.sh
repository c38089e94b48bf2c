#!/bin/sh
# Prints the manual page of hearsay(1), made from `hearsay help` and `hearsay help COMMAND` of the
# program. manpage.sh PROGRAM
set -eu
program=$1

# Copies text unchanged, with the characters escaped that roff would interpret.
verbatim() {
    printf '.nf\n'
    sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/'/\\\\(aq/g" -e 's/`/\\(ga/g' -e 's/^\./\\\&./' -e 's/[[:space:]]*$//'
    printf '.fi\n'
}

cat <<'ROFF'
.TH HEARSAY 1 "" "hearsay" "User Commands"
.SH NAME
hearsay \- HTTP caches that share their content
.SH SYNOPSIS
.B hearsay
.I COMMAND
[\fIOPTIONS\fR]
.SH DESCRIPTION
A caching HTTP proxy for clusters. Every node keeps a summary of its store and announces each change to its peers.
A local miss goes to the peer whose summary contains the URL, otherwise to the origin.
.SH COMMANDS
ROFF
commands=$("$program" help | sed -n '/^Subcommands:/,$ s/^  \([a-z][a-z-]*\) .*/\1/p')
[ -n "$commands" ]
"$program" help | sed -n '/^Subcommands:/,$ { /^Subcommands:/d; p; }' | verbatim
for command in $commands; do
    printf '.SH "HEARSAY %s"\n' "$(printf %s "$command" | tr a-z A-Z)"
    "$program" help "$command" | verbatim
done
cat <<'ROFF'
.SH SIGNALS
.TP
TERM, INT
Drain: withdraw the summary, answer 503 at /readyz, serve new clients for timeouts.drain_grace, finish all
requests and end. A second signal ends at once.
.TP
HUP
Read the configuration again. It takes effect as a whole, or is refused as a whole.
.TP
USR1
Reopen the access log after a rotation.
.SH FILES
.TP
.I /etc/hearsay/hearsay.json
The configuration of the service; its settings are described by /usr/share/hearsay/hearsay.schema.json.
.TP
.I /etc/hearsay/environment
Values for ${NAME} in the configuration of the service.
.SH "EXIT STATUS"
0; 1 failure while running; 2 usage; 78 bad configuration.
.SH "SEE ALSO"
/usr/share/doc/hearsay: README.md, docs/.
ROFF
