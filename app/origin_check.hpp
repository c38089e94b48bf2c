#pragma once

#include "proxy/config/loaded_config.hpp"

namespace app {

/// `hearsay check --origins`: asks each entry of `origins` with `public`, one after the other, with
/// a HEAD of its root or of the path in its `url`. The request goes the way of a node: with TLS,
/// groups and the fields that the rules set. A connection, and the answer, may take five seconds
/// each. Prints a line for each entry: the status, the time, the host of a redirect and whether an
/// entry covers it; or the failure and a remedy. Returns kOk, or kFailed if an origin left the
/// request without an answer or answered 5xx, or if no entry has `public`. A redirect is no
/// failure, because clients may never ask for the root.
int check_origins(const proxy::LoadedConfig& config);

}  // namespace app
