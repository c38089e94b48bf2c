#pragma once

#include <chrono>
#include <string>

#include "proxy/http/cache_control.hpp"
#include "proxy/http/received_head.hpp"

namespace proxy {

/// The narrowest statements of several responses about their storing and use, as one Cache-Control
/// and Vary (RFC 9111 §5.2.2). One thread; no clock.
class NarrowestStatements {
public:
    /// Adds those of one response. Returns its age.
    std::chrono::seconds take(const ReceivedHead& from, const CacheRules& rules);

    /// Every response states its lifetime.
    bool is_explicit() const { return explicit_; }
    /// `final`: the directives of the last response, which may name fields. `age`: its own, which
    /// its fields state.
    std::string cache_control(const ResponseDirectives& final, std::chrono::seconds age) const;
    /// The names of all Vary.
    const std::string& vary() const { return vary_; }

private:
    std::chrono::seconds take(const ReceivedHead& from, CacheRules rules,
                              bool by_cdn_cache_control);

    bool explicit_ = true;
    bool no_store_ = false, no_cache_ = false, private_ = false;
    bool permits_sharing_ = true;  // RFC 9111 §3.5
    bool must_revalidate_ = false, immutable_ = true, no_transform_ = false;
    bool all_s_maxage_ = true, any_s_maxage_ = false;
    std::chrono::seconds left_ = kMaxDelta;         // for this cache
    std::chrono::seconds left_client_ = kMaxDelta;  // for the caches of clients
    /// The least window that all state; -1: one states none.
    std::chrono::seconds while_revalidate_ = kMaxDelta, if_error_ = kMaxDelta;
    std::string vary_;
};

}  // namespace proxy
