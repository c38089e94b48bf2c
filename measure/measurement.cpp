#include "measure/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace measure {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kStatusTimeout = 2s;
constexpr auto kLookEvery = 1s;     // to notice restarts during the replay
constexpr auto kPoll = 100ms;       // while waiting
constexpr auto kQuietFor = 1300ms;  // counters at rest for longer than announcements are delayed
constexpr auto kSettleAtMost = 8s;
constexpr std::uint64_t kUnknownBytes = 1024;  // the default body of the built-in origin

/// Reads all nodes' counters periodically on a thread of its own.
class Watch {
public:
    Watch(const std::vector<HostPort>& admins) : admins_(admins), tracks_(admins.size()) {}
    ~Watch() { stop(); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    void start() {
        if (admins_.empty()) return;
        thread_ = std::thread([this] {
            std::unique_lock lock(mutex_);
            while (!wake_.wait_for(lock, kLookEvery, [this] { return stopping_; })) look();
        });
    }
    void stop() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        wake_.notify_all();
        if (thread_.joinable()) thread_.join();
    }

    /// Reads all counters once. Called by its own thread, or before start() and after stop().
    /// Returns the errors by node.
    std::vector<std::string> look() {
        std::vector<std::string> silent(admins_.size());
        for (std::size_t i = 0; i < admins_.size(); ++i) {
            const auto asked = Clock::now();
            if (const auto now = fetch_status(admins_[i], kStatusTimeout, silent[i])) {
                silent[i].clear();
                tracks_[i].sample(*now, asked, Clock::now());
            }
        }
        return silent;
    }
    const std::vector<CounterTrack>& tracks() const { return tracks_; }
    /// The next sample of each node is its zero.
    void forget() { tracks_.assign(admins_.size(), CounterTrack()); }

private:
    const std::vector<HostPort>& admins_;
    std::vector<CounterTrack> tracks_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::thread thread_;
    bool stopping_ = false;
};

/// All counters that are at rest after the last answer and its announcement.
std::vector<std::uint64_t> fingerprint(const std::vector<CounterTrack>& tracks) {
    std::vector<std::uint64_t> out;
    for (const auto& track : tracks) {
        const NodeSample n = track.counted();
        out.insert(out.end(), {n.total, n.local_hit, n.peer_hit, n.origin_fetch, n.error,
                               n.traffic.origin_requests, n.links.announcements_sent,
                               n.links.announcements_received});
        for (const auto& p : n.peers) {
            out.insert(out.end(), {p.asked, p.hits, p.false_hits, p.refused, p.failures, p.served});
        }
    }
    return out;
}

bool is_any_under_way(const std::vector<CounterTrack>& tracks) {
    return std::ranges::any_of(tracks, [](const auto& track) { return track.under_way() > 0; });
}

/// Reads the first sample of each node while no node asks another. The nodes are read one after the
/// other, so a question in between would stand in the books of one side alone.
void begin_at_rest(Watch& watch, Progress& progress) {
    const auto give_up = Clock::now() + kSettleAtMost;
    for (;;) {
        watch.forget();
        watch.look();
        const auto first = fingerprint(watch.tracks());
        if (is_any_under_way(watch.tracks())) {
            if (Clock::now() >= give_up) return;
        } else {
            std::this_thread::sleep_for(kPoll);
            watch.look();
            if (fingerprint(watch.tracks()) == first || Clock::now() >= give_up) return;
        }
        progress.update("waiting for the counters to settle");
        std::this_thread::sleep_for(kPoll);
    }
}

/// Reads the counters until they are at rest. Returns the nodes whose counters were unreadable at
/// the end.
std::vector<std::string> settle(Watch& watch, Progress& progress) {
    const auto give_up = Clock::now() + kSettleAtMost;
    auto silent = watch.look();
    auto last = fingerprint(watch.tracks());
    auto still_since = Clock::now();
    while ((Clock::now() < still_since + kQuietFor || is_any_under_way(watch.tracks())) &&
           Clock::now() < give_up) {
        progress.update("waiting for the counters to settle");
        std::this_thread::sleep_for(kPoll);
        silent = watch.look();
        auto now = fingerprint(watch.tracks());
        if (now != last) {
            last = std::move(now);
            still_since = Clock::now();
        }
    }
    return silent;
}

std::string describe_pace(const ReplayOptions& options) {
    std::string out;
    if (options.rate > 0) {
        out = fmt::format("{:g} requests/s", options.rate);
    } else if (options.speedup > 0) {
        out = fmt::format("the log's own times, {:g} times faster", options.speedup);
    } else {
        out = fmt::format("as fast as answered, {} at a time", options.concurrency);
    }
    return out + (options.failover ? ", failover" : "");
}

std::string describe(const ReplayProgress& p) {
    const double seconds = p.elapsed.count();
    const double rate = seconds > 0 ? static_cast<double>(p.done) / seconds : 0;
    const auto percent = p.total == 0 ? 0 : p.done * 100 / p.total;
    std::string out = fmt::format("{:>3} %  {} of {} requests, {:.0f}/s", percent, grouped(p.done),
                                  grouped(p.total), rate);
    if (p.failed > 0) out += fmt::format(", {} failed", grouped(p.failed));
    return out;
}

/// Distinct target URIs.
std::uint64_t objects_in(const Trace& trace, const TracePart& part) {
    std::vector<bool> seen(trace.object_bytes.size());
    const auto end = std::min(part.end, trace.requests.size());
    for (auto i = part.first; i < end; ++i) seen[trace.urls[trace.requests[i].url].object] = true;
    return static_cast<std::uint64_t>(std::ranges::count(seen, true));
}

Report begin_report(const Trace& trace, const MeasureOptions& options) {
    Report report;
    report.title = trace.source;
    if (trace.format) report.title += fmt::format(" ({} format)", to_string(*trace.format));
    report.pace = describe_pace(options.replay);
    static_cast<Reading&>(report) = trace;
    report.clients = trace.clients.size();
    report.urls = objects_in(trace, options.replay.part);
    return report;
}

}  // namespace

namespace {

/// Names two nodes of which one has yet to find the other; empty if all have found each other.
std::string strangers(const std::vector<NodeSample>& nodes) {
    for (const auto& node : nodes) {
        for (const auto& other : nodes) {
            const auto known =
                std::any_of(node.peers.begin(), node.peers.end(),
                            [&](const PeerSample& peer) { return peer.node == other.node; });
            if (!node.names.empty() && !known && node.node != other.node)
                return fmt::format("{} has not found {} yet", node.node, other.node);
        }
    }
    return {};
}

}  // namespace

std::string wait_until_in_sync(const std::vector<HostPort>& admins,
                               std::chrono::milliseconds timeout, Progress& progress,
                               const std::function<std::string()>& abort) {
    const auto deadline = Clock::now() + timeout;
    for (;;) {
        std::string missing;
        std::vector<NodeSample> nodes;
        for (const auto& admin : admins) {
            std::string why;
            const auto status = fetch_status(admin, kStatusTimeout, why);
            if (!status) {
                missing = fmt::format("{}: {}", admin.text(), why);
            } else if (!status->ready) {
                missing = fmt::format("{} is not ready", status->node);
            }
            for (const auto& disk : status ? status->disk : std::vector<DiskSample>{}) {
                if (disk.state == "loading")
                    missing = fmt::format("{} is still reading {}", status->node, disk.path);
            }
            for (const auto& peer : status ? status->peers : std::vector<PeerSample>{}) {
                if (peer.state == "in_step") continue;
                missing = fmt::format("{} and its peer {} are not in step ({})", status->node,
                                      peer.node, peer.state);
            }
            if (!missing.empty()) break;
            nodes.push_back(*status);
        }
        if (missing.empty()) missing = strangers(nodes);
        if (missing.empty()) return {};
        if (abort) {
            if (auto reason = abort(); !reason.empty()) return reason;
        }
        if (Clock::now() >= deadline) return missing;
        progress.update("waiting: " + missing);
        std::this_thread::sleep_for(kPoll);
    }
}

Report measure(const Trace& trace, const MeasureOptions& options, Progress& progress) {
    Report report = begin_report(trace, options);
    if (!options.admins.empty() && options.wait.count() > 0) {
        const auto missing = wait_until_in_sync(options.admins, options.wait, progress);
        if (!missing.empty()) progress.say("going on although " + missing);
    }
    Watch watch(options.admins);
    if (!options.admins.empty()) begin_at_rest(watch, progress);
    watch.start();
    const auto origin_before = options.origin ? options.origin->requests() : 0;
    ReplayResult result = replay(
        trace, options.replay, [&](const ReplayProgress& now) { progress.update(describe(now)); });
    watch.stop();
    const auto silent =
        options.admins.empty() ? std::vector<std::string>{} : settle(watch, progress);
    progress.clear();
    if (options.origin) report.origin_requests = options.origin->requests() - origin_before;

    const std::size_t proxies = options.replay.proxies.size();
    const auto first = options.replay.part.first;
    report.ideal =
        ideal_of(trace, proxies, kUnknownBytes, {first, first + result.sent}, result.body_bytes);
    report.goes_on = first > 0;
    report.sent = result.sent;
    report.stopped = result.stopped;
    report.course = result.course;
    report.elapsed_seconds = result.elapsed.count();
    report.first_failure = result.first_failure;
    for (std::size_t i = 0; i < proxies; ++i) {
        ReportRow& row = report.rows.emplace_back();
        row.name = options.replay.proxies[i].text();
        row.seen = result.proxies[i];
        row.ideal = report.ideal.proxies[i];
        if (options.admins.empty()) continue;
        if (!watch.tracks()[i].sampled()) {
            report.warnings.push_back("the admin port " + options.admins[i].text() +
                                      " gave no status: " + silent[i]);
            continue;
        }
        row.counted = watch.tracks()[i].counted();
        row.restarts = watch.tracks()[i].restarts();
        row.silent_at_end = !silent[i].empty();
        row.objects_before = watch.tracks()[i].objects_before();
        if (!row.counted->node.empty()) row.name = row.counted->node;
    }
    doubt(report, options.replay.proxies, options.admins);
    return report;
}

}  // namespace measure
