#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proxy {

/// What one node knows of one URL, as it would for a GET without fields: what it has, what the
/// peers' summaries say and what is true, and whom a miss would ask. Put together by cache/explain,
/// shown by the admin port.
struct Explanation {
    std::string url;                          // the target URI: the key of store and summaries
    std::string_view here = "absent";         // fresh, stale, filling, variant, absent
    std::optional<std::chrono::seconds> ttl;  // of what is stored; negative: stale for so long
    /// It was invalidated so lately that no peer is asked.
    bool just_invalidated = false;

    struct Peer {
        std::string node;
        bool claims = false;      // its summary does
        std::string_view has;     // upstream/peer_head_request.hpp's words; empty: it was not asked
        std::string_view choice;  // cache/explain_plan.hpp's words
        std::size_t turn = 0;     // 1: asked first; 0: not asked
        std::chrono::nanoseconds round_trip{0};  // 0: not known
    };
    std::vector<Peer> peers;
    bool beside_the_origin = false;           // the peer is far, and asked to know how far
    std::string origin;                       // host:port; empty: none is to be asked
    std::chrono::nanoseconds origin_time{0};  // to the head of its answer; 0: not known
};

}  // namespace proxy
