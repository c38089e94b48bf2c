#pragma once

#include "proxy/config/config.hpp"
#include "proxy/config/config_section.hpp"

namespace proxy {

/// Reads `forward.parent`: URLs of proxies, `http://[user:password@]host:port` or the same with
/// `https`. Credentials may be percent-encoded. No message shows them.
void read_parents(ConfigContext& context, ConfigSection& in, ForwardConfig& out);

/// Reads `forward.no_proxy`: hosts, globs, addresses and prefixes.
void read_no_proxy(ConfigContext& context, ConfigSection& in, ForwardConfig& out);

}  // namespace proxy
