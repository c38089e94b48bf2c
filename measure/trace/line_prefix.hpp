#pragma once

#include <string_view>

namespace measure {

/// Removes one prefix that a log collector put before the line. A line without a known prefix is
/// returned unchanged. Known prefixes: syslog (RFC 3164, RFC 5424, and the files of rsyslog and
/// journald), `docker compose logs` (also coloured), `docker service logs`, `docker logs -t`, the
/// files of container runtimes (CRI: `2026-01-01T00:00:00.1Z stdout F `) and `kubectl logs
/// --prefix`.
std::string_view without_prefix(std::string_view line);

}  // namespace measure
