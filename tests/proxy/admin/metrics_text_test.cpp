#include "proxy/admin/metrics_text.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace proxy {
namespace metrics_text_test {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

NodeStatus status() {
    NodeStatus s;
    s.node = "a";
    s.version = "0.1.0";
    s.work.requests[Outcome::local_hit] = 5;
    s.work.durations[0].observe(50us);
    s.work.durations[0].observe(700ms);
    s.work.durations[0].observe(1h);
    s.work.origin_requests = 8;
    s.work.origins_down = 2;
    s.work.origin_down_requests = 5;
    s.work.origin_hedges = 7;
    s.work.origin_hedges_outrun = 3;
    s.work.peers_too_far = 9;
    s.work.verdicts[StorageVerdict::private_] = 3;
    s.cache.evictions = 2;
    PeerStatus peer;
    peer.node = "b";
    peer.state = protocol::PeerState::in_sync;
    peer.false_hits = 2;
    peer.served = 9;
    peer.lag_seconds = 0.25;
    peer.breaker_open_seconds = 1.5;
    peer.round_trip_seconds = 0.5;
    s.cluster.peers.push_back(peer);
    peer.node = "c\"\n";
    peer.state = protocol::PeerState::gone;
    s.cluster.peers.push_back(peer);
    s.cluster.link_refusals["wrong_key"] = 4;
    s.summary.bits = 800;
    s.window_cap_bytes = 128 << 20;
    s.cache.memory_cap_bytes = 1 << 20;
    s.false_hit_budget = 0.004;
    s.process.open_fds = 7;
    return s;
}

TEST(Metrics, HaveEveryNameOfTheInterface) {
    const auto text = metrics_text(status());
    for (const char* name :
         {"hearsay_requests_total{outcome=\"local_hit\"} 5\n",
          "hearsay_request_duration_seconds_bucket{outcome=\"error\",le=\"0.001\"}",
          "hearsay_origin_requests_total 8\n",
          "hearsay_origins_down 2\n",
          "hearsay_origin_down_requests_total 5\n",
          "hearsay_origin_hedges_total{first=\"origin\"} 4\n",
          "hearsay_origin_hedges_total{first=\"peer\"} 3\n",
          "hearsay_peers_too_far_total 9\n",
          "hearsay_peer_repeats_total 0\n",
          "hearsay_peer_round_trip_seconds{peer=\"b\"} 0.5\n",
          "hearsay_bytes_total{direction=\"to_clients\"}",
          "hearsay_cache_objects ",
          "hearsay_cache_bytes{tier=\"memory\"}",
          "hearsay_body_window_bytes 0\n",
          "hearsay_body_window_cap_bytes 134217728\n",
          "hearsay_cache_cap_bytes{tier=\"memory\"} 1048576\n",
          "hearsay_false_hit_budget_ratio 0.004\n",
          "hearsay_evictions_total{tier=\"memory\"} 2\n",
          "hearsay_peer_requests_total{peer=\"b\",result=\"false_hit\"} 2\n",
          "hearsay_peer_given_total{peer=\"b\"} 9\n",
          "hearsay_peer_in_step{peer=\"b\"} 1\n",
          "hearsay_announcements_total{direction=\"sent\"}",
          "hearsay_announcement_bytes_total{direction=\"received\"}",
          "hearsay_digest_lag_seconds{peer=\"b\"} 0.25\n",
          "hearsay_peer_left_alone_seconds{peer=\"b\"} 1.5\n",
          "hearsay_digest_fill_ratio ",
          "hearsay_digest_bytes 100\n",
          "process_open_fds 7\n",
          "hearsay_build_info{node=\"a\",version=\"0.1.0\"} 1\n",
          "hearsay_storage_verdicts_total{verdict=\"private\"} 3\n",
          "hearsay_request_refusals_total{reason=\"malformed\"} 0\n",
          "hearsay_link_refusals_total{reason=\"wrong_key\"} 4\n",
          "hearsay_log_dropped_total 0\n",
          "hearsay_log_failed_total 0\n",
          "hearsay_config_reloads_total{result=\"refused\"} 0\n",
          "hearsay_config_last_reload_successful 1\n",
          "hearsay_connections 0\n"}) {
        EXPECT_THAT(text, HasSubstr(name));
    }
}

TEST(Metrics, CountDurationsInCumulativeBucketsUpToMinutes) {
    const auto text = metrics_text(status());
    const std::string start = "hearsay_request_duration_seconds_bucket{outcome=\"local_hit\",le=";
    EXPECT_THAT(text, HasSubstr(start + "\"0.0001\"} 1\n"));
    EXPECT_THAT(text, HasSubstr(start + "\"0.5\"} 1\n"));
    EXPECT_THAT(text, HasSubstr(start + "\"1\"} 2\n"));
    EXPECT_THAT(text, HasSubstr(start + "\"300\"} 2\n"));
    EXPECT_THAT(text, HasSubstr(start + "\"+Inf\"} 3\n"));
    EXPECT_THAT(text,
                HasSubstr("hearsay_request_duration_seconds_count{outcome=\"local_hit\"} 3\n"));
}

TEST(Metrics, SayThatAPeerIsNotInStep) {
    EXPECT_THAT(metrics_text(status()), HasSubstr("hearsay_peer_in_step{peer=\"c\\\"\\n\"} 0\n"));
}

TEST(Metrics, ShowEachDirectoryOfTheDisk) {
    auto s = status();
    EXPECT_THAT(metrics_text(s), Not(HasSubstr("directory=")));
    DiskStatus disk;
    disk.path = "/var/cache/a";
    disk.state = DiskStatus::State::off;
    disk.refused_paused = 3;
    disk.found_damaged = 2;
    disk.loading_seconds = 0.25;
    s.disk = {disk};
    const auto text = metrics_text(s);
    for (const char* line :
         {"hearsay_disk_state{directory=\"/var/cache/a\",state=\"off\"} 1\n",
          "hearsay_disk_state{directory=\"/var/cache/a\",state=\"ready\"} 0\n",
          "hearsay_disk_refused_total{directory=\"/var/cache/a\",reason=\"paused\"} 3\n",
          "hearsay_disk_found_files{directory=\"/var/cache/a\",state=\"damaged\"} 2\n",
          "hearsay_disk_loading_seconds{directory=\"/var/cache/a\"} 0.25\n"})
        EXPECT_THAT(text, HasSubstr(line));
}

TEST(Metrics, ShowAnswersOfOriginsBySite) {
    auto s = status();
    EXPECT_THAT(metrics_text(s), Not(HasSubstr("hearsay_origin_responses_total")));
    s.answers = {{{"o:80", {100, 38, 2}, {}}, "a.test"}};
    const auto text = metrics_text(s);
    for (const char* line :
         {"hearsay_origin_responses_total{site=\"a.test\",class=\"server_error\"} 38\n",
          "hearsay_origin_responses_total{site=\"a.test\",class=\"too_many_requests\"} 2\n",
          "hearsay_origin_responses_total{site=\"a.test\",class=\"other\"} 60\n",
          "hearsay_origin_up{site=\"a.test\"} 1\n"})
        EXPECT_THAT(text, HasSubstr(line));
    s.answers[0].outage.requests = kOriginFaultAfter;
    s.answers[0].outage.end = OriginEnd::unanswered;
    EXPECT_THAT(metrics_text(s), HasSubstr("hearsay_origin_up{site=\"a.test\"} 0\n"));
}

TEST(Metrics, ShowRedirectsThatLeaveTheMirrors) {
    auto s = status();
    EXPECT_THAT(metrics_text(s), Not(HasSubstr("hearsay_leaving_redirects_total")));
    s.leaving.total["a.test"] = 7;
    EXPECT_THAT(metrics_text(s), HasSubstr("hearsay_leaving_redirects_total{site=\"a.test\"} 7\n"));
}

TEST(Metrics, KeepToTheConventionsOfPrometheus) {
    auto s = status();
    s.answers.emplace_back();
    s.disk.emplace_back();
    std::istringstream in(metrics_text(s));
    std::set<std::string> families;
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with("# TYPE ")) continue;
        std::istringstream words(line);
        std::string hash, type_word, name, type;
        words >> hash >> type_word >> name >> type;
        EXPECT_TRUE(families.insert(name).second) << name << " stands twice";
        EXPECT_TRUE(name.starts_with("hearsay_") || name.starts_with("process_")) << name;
        EXPECT_EQ(name.ends_with("_total"), type == "counter") << name;
    }
    EXPECT_GE(families.size(), 15u);
}

NodeStatus status_with_all_families() {
    auto s = status();
    s.disk.emplace_back().path = "/var/cache/a";
    s.cluster.peers_gone = 1;
    return s;
}

TEST(Metrics, AreAcceptedByPromtool) {
    if (std::system("command -v promtool > /dev/null 2>&1") != 0) GTEST_SKIP() << "no promtool";
    const auto file = testing::TempDir() + "hearsay_metrics_" + std::to_string(::getpid());
    std::ofstream(file) << metrics_text(status_with_all_families());
    EXPECT_EQ(std::system(("promtool check metrics < " + file).c_str()), 0) << file;
    if (!HasFailure()) std::remove(file.c_str());
}

TEST(DurationHistogram, PutsABoundIntoItsOwnBucket) {  // `le` means less or equal
    DurationHistogram h;
    h.observe(1ms);
    EXPECT_EQ(h.counts[4], 1u);
    h.observe(1ms + 1ns);
    EXPECT_EQ(h.counts[5], 1u);
    h.observe(301s);
    EXPECT_EQ(h.counts.back(), 1u);
    EXPECT_EQ(h.total(), 3u);
    auto sum = h;
    sum += h;
    EXPECT_EQ(sum.total(), 6u);
    EXPECT_NEAR(sum.sum_seconds, 602.004, 1e-6);
}

TEST(OpenMetrics, NamesFamiliesOfCountersWithoutTheirEnd) {
    auto s = status();
    const auto text = metrics_text(s, MetricsFormat::open_metrics);
    EXPECT_THAT(text, HasSubstr("# TYPE hearsay_requests counter\n"));
    EXPECT_THAT(text, HasSubstr("\nhearsay_requests_total{outcome=\"local_hit\"} 5\n"));
    EXPECT_THAT(text, HasSubstr("# TYPE hearsay_request_duration_seconds histogram\n"
                                "# UNIT hearsay_request_duration_seconds seconds\n"));
    EXPECT_THAT(text, HasSubstr("hearsay_peer_in_step{peer=\"c\\\"\\n\"} 0\n"));
    EXPECT_THAT(text, HasSubstr("# UNIT process_cpu_seconds seconds\n"));
    EXPECT_THAT(text, Not(HasSubstr("_total counter")));
    EXPECT_TRUE(text.ends_with("\n# EOF\n"));
    std::istringstream lines(text);
    std::set<std::string> families;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("# TYPE ")) continue;
        const auto name = line.substr(7, line.find(' ', 7) - 7);
        EXPECT_TRUE(families.insert(name).second) << name;
    }
}

TEST(OpenMetrics, WritesBoundsInTheirCanonicalForm) {
    const auto text = metrics_text(status(), MetricsFormat::open_metrics);
    for (const auto* bound : {"5e-05", "0.0001", "0.00025", "1.0", "2.5", "60.0", "+Inf"})
        EXPECT_THAT(text, HasSubstr(std::string("{outcome=\"local_hit\",le=\"") + bound + "\"} "));
}

TEST(OpenMetrics, HasTheLastSampledRequestOfEachBucket) {
    auto s = status();
    SpanQueue queue;
    auto trace = begin_trace(
        parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"), 0, queue);
    s.work.observe(Outcome::peer_hit, 3ms, trace);
    const auto begun = std::chrono::system_clock::time_point(1'700'000'000'007ms);
    const auto index = static_cast<std::size_t>(Outcome::peer_hit);
    s.work.exemplars[index].note(trace.context.trace, 4ms, begun);
    trace.spans = nullptr;
    s.work.observe(Outcome::peer_hit, 700ms, trace);
    const auto text = metrics_text(s, MetricsFormat::open_metrics);
    EXPECT_THAT(text, HasSubstr("outcome=\"peer_hit\",le=\"0.005\"} 1 # "
                                "{trace_id=\"0af7651916cd43dd8448eb211c80319c\"} 0.004 "
                                "1700000000.007\n"));
    EXPECT_THAT(text, HasSubstr("outcome=\"peer_hit\",le=\"1.0\"} 2\n"));
    EXPECT_THAT(metrics_text(s), Not(HasSubstr("0af7651916cd43dd8448eb211c80319c")));
}

TEST(Exemplars, OfSeveralWorkersAreTheLatest) {
    const std::chrono::system_clock::time_point now(1'700'000'000s);
    DurationExemplars one, other;
    one.note({1}, 1ms, now);
    one.note({2}, 1s, now);
    other.note({3}, 1ms, now + 1s);
    other.note({4}, 1s, now - 1s);
    one += other;
    std::set<int> ids;
    for (const auto& each : one.last) ids.insert(each.trace[0]);
    EXPECT_THAT(ids, testing::ElementsAre(0, 2, 3));
}

}  // namespace metrics_text_test
}  // namespace proxy
