#!/bin/sh
# The manual page of hearsay(1) on standard output: what `hearsay help` and `hearsay help COMMAND` of
# this program say. manpage.sh PROGRAM
set -eu
program=$1

# As it stands there, with what roff would read otherwise escaped.
verbatim() {
    printf '.nf\n'
    sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/'/\\\\(aq/g" -e 's/`/\\(ga/g' -e 's/^\./\\\&./' -e 's/[[:space:]]*$//'
    printf '.fi\n'
}

cat <<'ROFF'
.TH HEARSAY 1 "" "hearsay" "User Commands"
.SH NAME
hearsay \- HTTP caches that answer for one another
.SH SYNOPSIS
.B hearsay
.I COMMAND
[\fIOPTIONS\fR]
.SH DESCRIPTION
A caching HTTP proxy for clusters. Every node keeps a summary of what it stores and tells its peers what changed; a
local miss goes straight to the peer that probably has it, and to the origin if nobody does.
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
Drain: withdraw the summary, say at /readyz that the node is not ready, answer whoever still comes for
timeouts.drain_grace, finish what is at hand and end. A second one ends at once.
.TP
HUP
Read the configuration again; it takes effect as a whole or not at all.
.TP
USR1
Open the access log anew.
.SH FILES
.TP
.I /etc/hearsay/hearsay.json
The configuration of the service; its settings are described by /usr/share/hearsay/hearsay.schema.json.
.TP
.I /etc/hearsay/environment
What the configuration names as ${NAME}, for the service.
.SH "EXIT STATUS"
0; 1 failure while running; 2 usage; 78 bad configuration.
.SH "SEE ALSO"
/usr/share/doc/hearsay: README.md, docs/.
ROFF
