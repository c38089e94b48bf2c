#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proxy {

/// A node's view of one URL, for a GET without fields: its own copy, what the peers'
/// summaries promise and what the peers have, and the targets of a miss. fetch/explain fills it,
/// and the admin port shows it.
struct Explanation {
    std::string url;  // the target URI: the key of store and summaries

    /// The entry of `rules` that applies.
    struct Rule {
        std::string name;  // empty: none applies
        bool follow_redirects = false;
        bool authorize = false;  // the origin confirms each use
        /// The judgement of its `min_age` about the stored content; empty without both.
        std::string min_age;
        std::string first_seen;  // when the content's age counts from there: in RFC 3339
    } rule;

    struct Mirror {
        std::string url;  // the public URL of the entry that it belongs to, or empty
        std::string url_at_origin;
        bool rewritten = false;  // the stored response, for that mirror
    } mirror;

    /// Of the stored response: its age and freshness lifetime (RFC 9111 §4.2), and its body.
    struct Stored {
        std::chrono::seconds age{0}, lifetime{0};
        std::uint64_t body_bytes = 0, block_bytes = 0;  // the latter is 0 for a body in one piece
    };
    /// The last reason against storing a response of this URL that the node remembers.
    struct RefusedStorage {
        std::string_view verdict;  // words of http/storage_verdict.hpp
        std::chrono::seconds ago{0};
    };
    struct Store {
        std::string_view here = "absent";         // fresh, stale, filling, variant, disk, absent
        std::optional<std::chrono::seconds> ttl;  // of the stored response; negative if stale
        std::optional<Stored> stored;
        std::size_t variants = 0;  // in memory
        std::optional<RefusedStorage> not_stored;
        /// An invalidation of this URL is so recent that a miss asks the origin alone.
        bool just_invalidated = false;
    } store;

    struct Access {
        /// What a client gets in place of any content: the status, and the setting that says so.
        /// Empty: it may get content.
        std::string refused;
        /// The entry of a blocklist that has this URL: `FILE, line N`; empty without one.
        std::string blocklist;
        std::string_view blocklist_action;  // refuse, log
        /// Why `forward.destinations` refuses this URL; empty if it does not.
        std::string destination;
        /// What a client gets where the answer would come from the target: its addresses are
        /// refused, and the text names the status and the reason. Empty: they are not. Content of
        /// this node and of peers is given all the same.
        std::string target_refused;
        /// The entry of `forward.intercept.hosts` by which the node reads requests for this URL
        /// inside a CONNECT; empty for one that it tunnels.
        std::string intercepted;
    } access;

    struct Origin {
        std::string place;  // host:port, or empty
        /// The servers of its group, or the parent proxies, in the order in which a request would
        /// try them now; empty without a group.
        std::vector<std::string> servers;
        std::chrono::nanoseconds time{0};  // to the head of its answer; 0: unknown
        std::string site;                  // as in AnswersBySite; empty for a forward target
        std::string fault;                 // fault_text()
        /// Of the machine that would be dialled, by the resolver of the node; empty: unknown.
        std::vector<std::string> addresses;
    } origin;

    struct Peer {
        std::string node;
        bool promises = false;  // its summary promises the key
        std::string_view
            has;  // words of upstream/peer_head_request.hpp; empty without a peer request
        std::string_view choice;                 // words of fetch/explain_plan.hpp
        std::size_t turn = 0;                    // 1: the first in a miss; 0: none
        std::chrono::nanoseconds round_trip{0};  // 0: unknown
    };
    std::vector<Peer> peers;
    bool beside_the_origin = false;  // the peer is far, and is asked to measure its distance

    struct OneFetch {
        std::string meeting_point;  // the node that knows who fetches the key; empty: no cluster
        /// The node that fetches it, or did in the last minute, where this node is that point.
        std::string fetcher;
        std::string renewed_by;  // the peer that has told of news for the stale response
    } one_fetch;
};

}  // namespace proxy
