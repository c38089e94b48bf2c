#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/simulate/objects.hpp"
#include "proxy/fetch/renewal.hpp"
#include "summary/directory/peer_set.hpp"

namespace measure {

/// The renewals that simulated proxies tell each other (proxy/fetch/renewal.hpp), in the table that
/// a node has for them. All messages take the same time.
class Renewals {
public:
    using TimePoint = proxy::KnownRenewals::Time;

    /// `objects` must outlive it.
    Renewals(std::size_t proxies, const Objects& objects, std::chrono::microseconds delay)
        : objects_(objects), delay_(delay) {
        for (std::size_t i = 0; i < proxies; ++i) forget(i);
    }

    /// `proxy` tells `peers` at `now` that the origin has confirmed or sent this version. Times
    /// never decrease from call to call.
    void tell(std::size_t proxy, const summary::PeerSet& peers, std::uint32_t object,
              std::uint32_t version, TimePoint now) {
        under_way_.push_back({now + delay_, proxy, peers, object, version});
    }
    /// Delivers what has arrived by `now`.
    void advance(TimePoint now) {
        for (; !under_way_.empty() && under_way_.front().arrives <= now; under_way_.pop_front()) {
            const auto& [arrives, proxy, peers, object, version] = under_way_.front();
            protocol::Renewal renewal{objects_.hash(object), named(version)};
            const protocol::Renewals message{ms(arrives - delay_), {renewal}};
            for (const auto peer : peers)
                known_[peer]->note(name(proxy), message, ms(arrives), arrives);
        }
    }
    /// A proxy has restarted.
    void forget(std::size_t proxy) {
        known_.resize(std::max(known_.size(), proxy + 1));
        known_[proxy] = std::make_unique<proxy::KnownRenewals>();
    }

    /// What is news for a copy of `proxy` that the origin has confirmed at `own`.
    std::optional<proxy::KnownRenewals::Known> news(std::size_t proxy, std::uint32_t object,
                                                    TimePoint own) const {
        auto known = known_[proxy]->of(objects_.hash(object));
        return known && proxy::is_news(*known, own) ? known : std::nullopt;
    }
    static bool confirms(const proxy::KnownRenewals::Known& news, std::uint32_t version) {
        return news.what.version == named(version);
    }
    /// Of those peers the one that has told it.
    static summary::PeerSet teller(const proxy::KnownRenewals::Known& news,
                                   const summary::PeerSet& peers) {
        summary::PeerSet result;
        for (const auto peer : peers)
            if (name(peer) == news.node) result.insert(peer);
        return result;
    }

private:
    struct Message {
        TimePoint arrives;
        std::size_t proxy;
        summary::PeerSet peers;
        std::uint32_t object, version;
    };

    static std::string name(std::size_t proxy) { return std::to_string(proxy); }
    /// 0 is none.
    static std::uint64_t named(std::uint32_t version) { return std::uint64_t{version} + 1; }
    static std::uint64_t ms(TimePoint time) {
        return static_cast<std::uint64_t>(
            std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count());
    }

    const Objects& objects_;
    const std::chrono::microseconds delay_;
    std::vector<std::unique_ptr<proxy::KnownRenewals>> known_;
    std::deque<Message> under_way_;
};

}  // namespace measure
