#pragma once

#include <string>
#include <string_view>

#include "proxy/upstream/upstream_pool.hpp"

namespace proxy {

// The words between this node and a parent proxy that opens a tunnel. Plain functions.

/// The request for a tunnel to `target`, whose `via` is set (RFC 9110 §9.3.6). `node`: for Via.
std::string connect_request(const UpstreamTarget& target, std::string_view node);

/// The status of the head of a response; 0: it is none.
unsigned status_in_head(std::string_view head);

}  // namespace proxy
