#pragma once

#include <memory>
#include <string>

#include "proxy/http/cache_key.hpp"
#include "proxy/upstream/request_snapshot.hpp"

namespace proxy {

/// The request for `target`, to which the response to `asks` redirects. Null: the node does not
/// follow there. It follows to the scheme, host and port of the first URL, and to hosts that an
/// entry of `origins` other than `*` serves, or that a rule names. A host outside `origins` needs
/// forward mode or the name in a rule. It is the word of an outsider: its addresses are judged as
/// those that clients name, and a blocklist (`lists`, may be null) or forward.destinations may
/// refuse it.
///
/// Another scheme, host or port gets no field of the client that may be a credential, and none that
/// the rule of `asks` sets.
std::shared_ptr<const RequestSnapshot> redirected_request(const RequestSnapshot& asks,
                                                          const CacheKey& target,
                                                          const Blocklists* lists);

/// The key under which the content of `url` would be stored: without what the rules leave out.
std::string key_by_rules(const RequestSnapshot& asks, const CacheKey& url);

}  // namespace proxy
