// How long the control thread is busy at once: the longest step of each kind, with many objects and
// peers. `steps [objects] [peers] [kind]`, by default 10 million, 64 and counting_bloom; takes a
// minute and, for 64 peers, 6 GB (the directory twice). Nothing here waits, so the measured time is
// work, page faults included.

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "protocol/links/sync_session.hpp"
#include "protocol/membership/neighbourhood.hpp"
#include "protocol/membership/peering_config.hpp"
#include "protocol/publishing/invalidation_log.hpp"
#include "protocol/publishing/outbox.hpp"
#include "protocol/publishing/publisher.hpp"
#include "summary/coding/fingerprint_shape.hpp"
#include "summary/filters/bloom_filter.hpp"
#include "summary/sizing/false_hit_budget.hpp"
#include "summary/sizing/sizing.hpp"

namespace {

using namespace protocol;
using Clock = std::chrono::steady_clock;

std::map<std::string, std::vector<double>> steps;  // ms

double cpu_ms() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

template <class Step>
auto timed(const std::string& kind, Step step) {
    struct Watch {
        explicit Watch(std::vector<double>& into) : into_(into) {}
        ~Watch() { into_.push_back(cpu_ms() - begin_); }
        std::vector<double>& into_;
        double begin_ = cpu_ms();
    };
    const Watch watch(steps[kind]);
    return step();
}

std::uint64_t mix(std::uint64_t word) {
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
}
summary::KeyHash key(std::uint64_t number) {
    constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;
    return {mix((2 * number + 1) * kStep), mix((2 * number + 2) * kStep)};
}

class Bench {
public:
    Bench(std::uint64_t objects, unsigned peers, summary::Kind kind)
        : objects_(objects),
          peers_(peers),
          kind_(kind),
          publisher_(config(0.004, 0.001), now_),
          outbox_({std::size_t{1} << 30, std::chrono::seconds(1)}, now_),
          session_({std::uint64_t{1} << 30, std::chrono::seconds(1)}, now_) {
        for (unsigned i = 0; i < peers_; ++i) {
            neighbours_.add_peer(i, "n" + std::to_string(i));
            neighbours_.place(i, {"127.0.0.1", 3128});
        }
    }

    void run() {
        fill();
        deliver();
        finish();
        deliver();
        churn();
        checks();
        directory();
        members_change();
        reload();
        empty();
    }

private:
    static constexpr std::uint64_t kBatch = 2048;  // proxy/node/control_queue.hpp

    Publisher::Config config(double budget, double changed) const {
        summary::OwnSummaryConfig own;
        own.error = summary::error_per_summary(budget, peers_);
        own.kind = kind_;
        return {own, changed, std::chrono::seconds(1), std::chrono::seconds(10)};
    }
    /// One of twice the size, and empty.
    summary::Filter larger() const {
        const auto error = summary::error_per_summary(0.004, peers_);
        switch (kind_) {
            case summary::Kind::counting_bloom:
                break;
            case summary::Kind::quotient:
                return summary::QuotientFilter(summary::quotient_shape_for(2 * objects_, error));
            case summary::Kind::cuckoo:
                return summary::CuckooFilter(summary::cuckoo_shape_for(2 * objects_, error));
        }
        return summary::BloomFilter(summary::shape_for(2 * objects_, error));
    }

    void announce() {
        while (const auto due = publisher_.announce_due()) {
            if (*due > now_) break;
            const auto news = timed("announce", [&] { return publisher_.announce(now_); });
            if (news) outbox_.offer(*news);
        }
    }
    void work() {
        const auto& own = publisher_.own();
        const std::string kind = own.growing() ? "own summary: growth, and image" : "image";
        const auto news = timed(kind, [&] { return publisher_.work(); });
        if (news) outbox_.offer(*news);
    }
    void finish() {
        announce();
        while (publisher_.busy()) work();
    }
    void fill() {
        for (std::uint64_t i = 0; i < objects_; i += kBatch) {
            timed("2,048 keys stored", [&] {
                for (auto k = i; k < i + kBatch; ++k) publisher_.stored(key(k), now_);
            });
            announce();
            if (publisher_.busy()) work();
        }
        finish();
    }
    void deliver() {
        while (const auto message =
                   timed("next message", [&] { return outbox_.next(publisher_, now_); })) {
            const std::string kind = std::holds_alternative<SnapshotPart>(*message)
                                         ? "snapshot part"
                                     : std::holds_alternative<Delta>(*message) ? "delta: replica"
                                                                               : "other message";
            auto action = timed(kind, [&] { return session_.on_message(*message, now_); });
            if (!action) continue;
            if (const auto* change = std::get_if<SyncSession::Change>(&*action)) {
                if (loaded_) {
                    timed("delta: directory", [&] { neighbours_.change(0, change->what); });
                }
            }
        }
    }
    /// 0.1 % and more replaced, as in a burst.
    void churn() {
        for (std::uint64_t i = 0; i < 80 * kBatch; i += kBatch) {
            timed("2,048 keys replaced", [&] {
                for (auto k = i; k < i + kBatch; ++k) {
                    publisher_.stored(key(objects_ + first_ + k), now_);
                    publisher_.removed(key(first_ + k), now_);
                }
            });
            announce();
            deliver();
        }
        first_ += 80 * kBatch;
    }
    void checks() {
        now_ += std::chrono::seconds(2);
        announce();  // what waited for more
        now_ += std::chrono::seconds(11);
        const auto check = timed("check hash", [&] { return publisher_.check(now_); });
        if (!check) std::puts("no check-hash was due");
        if (check) outbox_.offer(*check);
        deliver();
    }
    void neighbours_work(const char* kind) {
        while (neighbours_.busy()) timed(kind, [&] { neighbours_.work(); });
    }
    /// All hold the same, which costs as much as different ones do.
    void directory() {
        for (unsigned i = 0; i < peers_; ++i) {
            timed("directory: load", [&] { neighbours_.load(i, session_.replica()); });
            timed("directory: view", [&] { return neighbours_.take_view(); });
        }
        loaded_ = true;
        neighbours_work("directory: build");
        view_ = neighbours_.take_view();
        churn();
    }
    void members_change() {
        timed("directory: leave", [&] { neighbours_.end_feed(1); });
        timed("directory: load", [&] { neighbours_.load(1, session_.replica()); });
        neighbours_work("directory: one peer anew");
        summary::Replica other;
        other.apply_snapshot(1, 0, larger());
        timed("directory: load", [&] { neighbours_.load(1, other); });
        neighbours_work("directory: build");
        timed("directory: view", [&] { view_ = neighbours_.take_view(); });
        neighbours_work("directory: old one given back");
        neighbours_.end_feed(1);
    }
    void reload() {
        Publisher next(config(0.004, 0.01), now_);
        timed("reload: same shape", [&] { next.take_over(publisher_); });
        Publisher other(config(0.0004, 0.01), now_);
        timed("reload: other shape", [&] { other.take_over(next); });
        while (other.busy()) timed("reload: growth", [&] { other.work(); });
        publisher_ = std::move(other);
    }
    /// A purge of everything.
    void empty() {
        InvalidationLog log(peers_, PeeringConfig{}.max_invalidations_kept);
        std::vector<summary::KeyHash> keys;
        for (std::uint64_t i = first_; i < objects_ + first_; i += kBatch) {
            timed("2,048 keys removed", [&] {
                for (auto k = i; k < i + kBatch; ++k) publisher_.removed(key(k), now_);
            });
            keys.clear();
            for (auto k = i; k < i + kBatch; ++k) keys.push_back(key(k));
            timed("2,048 invalidated", [&] { log.add({keys, {}}); });
            timed("invalidation: next", [&] { return log.next(0, true); });
            announce();
            if (publisher_.busy()) work();
        }
        finish();
        invalidate_again(log);
    }
    /// The entries that all but one peer wait for, then all kept ones are confirmed.
    void invalidate_again(InvalidationLog& log) {
        constexpr std::uint64_t kRounds = 4, kDifferent = 64 * kBatch;
        std::vector<summary::KeyHash> keys;
        for (std::uint64_t i = 0; i < kRounds * kDifferent; i += kBatch) {
            keys.clear();
            for (auto k = i; k < i + kBatch; ++k) keys.push_back(key(k % kDifferent));
            timed("2,048 invalidated again", [&] { log.add({keys, {}}); });
            while (timed("invalidation: next", [&] { return log.next(0, true); })) continue;
            timed("invalidation: confirmed", [&] { return log.confirm(0, log.last()); });
        }
        for (unsigned peer = 0; peer < peers_; ++peer) {
            while (timed("invalidation: next", [&] { return log.next(peer, true); })) continue;
            timed("invalidation: confirmed", [&] { return log.confirm(peer, log.last()); });
        }
        while (log.size() > 0)
            timed("invalidation: confirmed", [&] { return log.confirm(0, log.last()); });
    }

    std::uint64_t objects_;
    unsigned peers_;
    summary::Kind kind_;
    Clock::time_point now_ = Clock::now();
    Publisher publisher_;
    Outbox outbox_;
    SyncSession session_;
    Neighbourhood neighbours_;
    std::shared_ptr<const PeerView> view_;
    std::uint64_t first_ = 0;  // keys below are gone
    bool loaded_ = false;
};

}  // namespace

int main(int count, char** arguments) {
    const auto number = [&](int i, std::uint64_t otherwise) {
        return count > i ? std::strtoull(arguments[i], nullptr, 10) : otherwise;
    };
    const auto objects = number(1, 10'000'000);
    const auto peers = static_cast<unsigned>(number(2, 64));
    const auto kind = summary::kind_named(count > 3 ? arguments[3] : "counting_bloom");
    if (!kind) {
        std::puts("no such kind");
        return 2;
    }
    Bench(objects, peers, *kind).run();
    std::printf("%llu objects, %u peers; ms\n%-34s %8s %8s %8s %8s\n",
                static_cast<unsigned long long>(objects), peers, "step", "longest", "99.9 %",
                "median", "steps");
    for (auto& [step, times] : steps) {
        std::sort(times.begin(), times.end());
        const auto at = [&times = times](double part) {
            return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
        };
        std::printf("%-34s %8.2f %8.2f %8.2f %8zu\n", step.c_str(), times.back(), at(0.999),
                    at(0.5), times.size());
    }
}
