#pragma once

#include <string_view>

namespace measure {

/// The line without what collectors of logs put before it, one layer of it; the line itself when
/// it begins with none that is known. Known are: syslog (RFC 3164, RFC 5424, and the files of
/// rsyslog and journald), `docker compose logs` (also coloured), `docker service logs`, `docker
/// logs -t`, the files of container runtimes (CRI: `2026-01-01T00:00:00.1Z stdout F `) and `kubectl
/// logs
/// --prefix`.
std::string_view without_prefix(std::string_view line);

}  // namespace measure
