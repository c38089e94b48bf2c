// The bytes of a link that comes back after some seconds: a publisher and a subscriber of many
// objects, without sockets. The counters are what counts; the time is that of the whole play.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <optional>

#include "protocol/links/sync_session.hpp"
#include "protocol/publishing/outbox.hpp"
#include "protocol/publishing/publisher.hpp"
#include "protocol/wire/frame.hpp"
#include "summary/sizing/false_hit_budget.hpp"
#include "tests/summary/keys.hpp"

namespace protocol {
namespace {

using namespace std::chrono_literals;
using summary::test::key;

constexpr std::uint64_t kPeers = 16;

/// Both ends of the links from one publisher to one subscriber.
struct Pair {
    explicit Pair(summary::Kind kind, std::uint64_t objects) : publisher(config(kind), now) {
        publisher.begin_import();
        for (std::uint64_t i = 0; i < objects; ++i) publisher.stored(key(i), now);
        publisher.end_import();
        while (publisher.busy()) publisher.work();
    }
    static Publisher::Config config(summary::Kind kind) {
        Publisher::Config config;
        config.summary.kind = kind;
        config.summary.error = summary::error_per_summary(summary::kDefaultFalseHitBudget, kPeers);
        return config;
    }
    /// The bytes of the frames that a new link needs until the subscriber is in step.
    std::uint64_t link() {
        auto left = session ? session->leave_replica() : nullptr;
        session.emplace(SyncSession::Config{.heartbeat = 1s}, now, 0, 0, std::move(left));
        Outbox outbox({.heartbeat = 1s}, now);
        const auto first = std::get<Heartbeat>(*session->next(now));
        const auto missed = publisher.deltas_since(first.epoch, first.generation);
        if (missed) outbox.go_on(first.epoch, first.generation, *missed);
        std::uint64_t sent = 0;
        while (!session->in_sync()) {
            while (publisher.busy()) publisher.work();
            if (const auto message = outbox.next(publisher, now)) sent += send(*message);
        }
        return sent;
    }
    std::uint64_t send(const Message& message) {
        Bytes frame;
        Sealer(LinkKey{}).seal(message, frame);
        session->on_message(message, now);
        return frame.size();
    }
    bool agrees() {
        const auto& own = publisher.own();
        send(CheckHash{own.epoch(), own.generation(), own.check_hash()});
        return session->in_sync();
    }

    Publisher::TimePoint now{100s};
    Publisher publisher;
    std::optional<SyncSession> session;
};

/// `away` seconds in each of which `changed` objects are replaced.
void reconnect(benchmark::State& state) {
    const auto kind = static_cast<summary::Kind>(state.range(0));
    const auto objects = static_cast<std::uint64_t>(state.range(1));
    const auto changed = static_cast<std::uint64_t>(state.range(2));
    const auto away = static_cast<std::uint64_t>(state.range(3));
    for ([[maybe_unused]] auto each : state) {
        Pair pair(kind, objects);
        state.counters["first"] = static_cast<double>(pair.link());
        std::uint64_t payload = 0;
        for (std::uint64_t i = 0; i < changed * away; ++i) {
            pair.publisher.removed(key(i), pair.now);
            pair.publisher.stored(key(objects + i), pair.now);
            if ((i + 1) % changed != 0) continue;
            pair.now += 1s;
            while (const auto news = pair.publisher.announce(pair.now))
                payload += news->delta ? news->delta->size() : 0;
        }
        state.counters["changes"] = static_cast<double>(payload);
        state.counters["again"] = static_cast<double>(pair.link());
        if (!pair.agrees()) state.SkipWithError("the replica differs");
    }
}
BENCHMARK(reconnect)
    ->ArgNames({"kind", "objects", "changed", "away"})
    ->ArgsProduct({{4, 2, 3}, {10'000'000}, {80}, {10}})
    ->Args({4, 10'000'000, 0, 10})
    ->Args({4, 10'000'000, 800, 10})
    ->Args({4, 10'000'000, 80, 600})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace protocol
