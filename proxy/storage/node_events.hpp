#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <variant>

#include "base/async/awaited_value.hpp"
#include "protocol/wire/invalidation.hpp"
#include "protocol/wire/renewal.hpp"
#include "summary/directory/peer_set.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// The key of a target URI or of a block enters the own summary (`stored`), or leaves it.
struct KeyChange {
    summary::KeyHash key;
    bool stored = false;
};

/// This node has invalidated keys or tags. Every peer has to drop them, too.
struct LocalInvalidation {
    protocol::Invalidation what;
};
/// The origin has confirmed or sent at `at` what these peers announce, too. The event may be lost.
struct LocalRenewal {
    protocol::Renewal what;
    std::chrono::steady_clock::time_point at;
    summary::PeerSet peers;
};
/// A purge waits this long for the confirmations of peers. Later ones still take effect.
inline constexpr std::chrono::seconds kPurgeDeadline{1};
/// The response to a purge.
struct PurgeAnswer {
    unsigned status = 200;  // 202: this node or a peer has yet to complete it
    std::string json;
};
/// A client has sent a PURGE of this cache key that it may send. `reply` gets the answer within
/// kPurgeDeadline; it stays empty if the node ends first.
struct PurgeRequested {
    std::string uri;
    std::shared_ptr<base::AwaitedValue<PurgeAnswer>> reply;
};
/// The event loop of a worker thread has ended.
struct WorkerEnded {};
/// The operator has ordered the node to drain, to stop at once, or to read its configuration again.
struct DrainOrdered {};
struct StopOrdered {};
struct ReloadOrdered {};

using NodeEvent = std::variant<LocalInvalidation, LocalRenewal, PurgeRequested, WorkerEnded,
                               DrainOrdered, StopOrdered, ReloadOrdered>;

/// The way from any thread of a node to its control thread. Both functions return at once and may
/// be called under a lock. Changes of one key arrive in their order; other events do so as well,
/// and may overtake key changes.
class NodeEvents {
public:
    virtual ~NodeEvents() = default;
    virtual void push(KeyChange change) = 0;
    virtual void push(NodeEvent event) = 0;
};

}  // namespace proxy
