#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "proxy/forwarding/request_snapshot.hpp"
#include "proxy/forwarding/route.hpp"
#include "proxy/forwarding/worker.hpp"
#include "proxy/http/cache_control.hpp"
#include "proxy/storage/fill.hpp"

namespace proxy {

/// One answer to be fetched for the store: from the peer that probably has it, else from the
/// origin.
struct FetchJob {
    FetchJob(const Head& head, const CacheKey& target, std::shared_ptr<const Config> rules)
        : request(head, target, true), config(std::move(rules)) {}

    RequestSnapshot request;
    std::shared_ptr<const Config> config;  // the request's
    summary::KeyHash hash;
    RequestDirectives directives;
    OriginRoute route;
    std::shared_ptr<Fill> fill;
    std::shared_ptr<Wakeup> wakeup;               // the fill's writer side
    std::shared_ptr<const StoredResponse> stale;  // to be validated; may be null
    std::uint64_t generation = 0;                 // from Store::find
    bool may_ask_peers = true;
};

/// Runs a fetch to its end: fills `job->fill`, stores what may be stored, and tells the store in
/// every case. Goes on when the client that began it leaves, as long as Fill::wanted().
boost::asio::awaitable<void> fetch(Worker& worker, std::unique_ptr<FetchJob> job);

}  // namespace proxy
