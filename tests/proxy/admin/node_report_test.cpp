#include "proxy/admin/node_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/protocol/bytes.hpp"

namespace proxy {
namespace node_report_test {

using protocol::Bytes;
using protocol::PeerState;

NodeReport report_with_links(std::size_t links) {
    NodeReport report;
    report.version = "1.2.3";
    std::uint64_t value = 1;
    for (const auto member : kReportedNumbers) report.numbers.*member = value *= 7;
    for (std::size_t i = 0; i < links; ++i)
        report.links.push_back(
            {"node-" + std::to_string(i), PeerState::in_sync, i, 2 * i, 3, 4, 5});
    return report;
}

Bytes bytes(std::initializer_list<int> values) {
    Bytes out;
    for (const auto value : values) out.push_back(static_cast<std::byte>(value));
    return out;
}

TEST(NodeReport, ComesBackAsItWas) {
    const auto report = report_with_links(5);
    auto read = decode_report(encode_report(report));
    ASSERT_TRUE(read);
    std::reverse(read->links.begin(), read->links.end());  // those of most use come first
    EXPECT_EQ(*read, report);
    EXPECT_EQ(decode_report(encode_report(NodeReport())), NodeReport());
}

TEST(NodeReport, ReadsTheExampleOfTheFormat) {  // protocol/FORMAT.md, Example
    const auto example =
        protocol::test::unhex("010105302e312e30020501003c0301030a00080162030102000028");
    const auto read = decode_report(example);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->version, "0.1.0");
    EXPECT_EQ(read->numbers.ready, 1u);
    EXPECT_EQ(read->numbers.uptime_seconds, 60u);
    EXPECT_EQ(read->numbers.local_hits, 3u);
    EXPECT_EQ(read->numbers.peer_hits, 1u);
    EXPECT_EQ(read->numbers.origin_fetches, 0u);
    const ReportedLink b{"b", PeerState::in_sync, 1, 2, 0, 0, 40};
    EXPECT_EQ(read->links, std::vector{b});
    EXPECT_EQ(read->links_left_out, 0u);
}

TEST(NodeReport, NeverExceedsItsLimitAndKeepsTheLinksOfMostUse) {
    for (const std::size_t links : {10, 32, 33, 200, 1000}) {
        auto report = report_with_links(links);
        for (auto& link : report.links) {
            link.peer = std::string(64 - link.peer.size(), 'x') + link.peer;
            link.lag_ms = std::numeric_limits<std::uint64_t>::max();
        }
        const auto encoded = encode_report(report);
        EXPECT_LE(encoded.size(), protocol::kMaxReportBytes) << links;
        const auto read = decode_report(encoded);
        ASSERT_TRUE(read) << links;
        EXPECT_EQ(read->links.size() + read->links_left_out, links);
        ASSERT_FALSE(read->links.empty());
        EXPECT_EQ(read->links.front().hits, links - 1);
    }
}

TEST(NodeReport, LeavesOutQuietLinksOfManyOnly) {
    NodeReport report;
    for (int i = 0; i < 20; ++i)
        report.links.push_back({"n" + std::to_string(i), PeerState::in_sync, 0, 0, 0, 0, 40});
    EXPECT_EQ(decode_report(encode_report(report))->links.size(), 20u);
    for (int i = 20; i < 100; ++i)
        report.links.push_back({"n" + std::to_string(i), PeerState::in_sync, 0, 0, 0, 0, 40});
    report.links[50].state = PeerState::gone;
    report.links[60].false_hits = 1;
    const auto read = decode_report(encode_report(report));
    EXPECT_EQ(read->links.size(), 2u);
    EXPECT_EQ(read->links_left_out, 98u);
}

TEST(NodeReport, IgnoresWhatALaterBuildAdds) {
    // An unknown section, a number too many, a link that is longer, and a state that is unknown.
    auto later = bytes({1, 77, 2, 0, 0});
    Bytes numbers(std::size(kReportedNumbers), std::byte{1});
    numbers.push_back(std::byte{9});
    later.push_back(std::byte{2});
    later.push_back(static_cast<std::byte>(numbers.size()));
    later.insert(later.end(), numbers.begin(), numbers.end());
    const auto links = bytes({3, 12, 0, 10, 1, 'b', 200 & 0x7f, 1, 2, 3, 4, 5, 99, 98});
    later.insert(later.end(), links.begin(), links.end());
    const auto read = decode_report(later);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->numbers.expected_error_ppb, 1u);
    ASSERT_EQ(read->links.size(), 1u);
    EXPECT_EQ(read->links[0].state, PeerState::gone);
    EXPECT_EQ(read->links[0].lag_ms, 5u);
}

TEST(NodeReport, ReadsTheClockThatTheLinkAppends) {
    EXPECT_EQ(decode_report(encode_report(NodeReport()))->clock_ms, 0u);
    EXPECT_EQ(decode_report(bytes({1, 4, 8, 0, 0, 1, 0x9a, 0, 0, 0, 5}))->clock_ms, 0x19a00000005u);
    EXPECT_FALSE(decode_report(bytes({1, 4, 8, 0, 0})));
}

TEST(NodeReport, AnEarlierBuildHasFewerNumbers) {
    const auto read = decode_report(bytes({1, 2, 3, 1, 0, 42}));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->numbers.uptime_seconds, 42u);
    EXPECT_EQ(read->numbers.objects, 0u);
    EXPECT_FALSE(read->judges_origins);
    // Its last number was the expected error of the summary.
    Bytes earlier = bytes({1, 2, 20});
    earlier.insert(earlier.end(), 20, std::byte{7});
    const auto before = decode_report(earlier);
    ASSERT_TRUE(before);
    EXPECT_EQ(before->numbers.expected_error_ppb, 7u);
    EXPECT_EQ(before->numbers.disks_with_errors, 0u);
    EXPECT_FALSE(before->judges_origins);
    EXPECT_EQ(before->numbers.p50_us, 0u);
    EXPECT_TRUE(decode_report(encode_report(NodeReport{}))->judges_origins);
}

TEST(NodeReport, RefusesMalformedBytes) {
    EXPECT_FALSE(decode_report({}));
    EXPECT_FALSE(decode_report(bytes({2}))) << "another version";
    EXPECT_FALSE(decode_report(bytes({1, 2}))) << "a section without a length";
    EXPECT_FALSE(decode_report(bytes({1, 2, 5, 1}))) << "a section cut off";
    EXPECT_FALSE(decode_report(bytes({1, 2, 2, 0x80, 0x80}))) << "a number cut off";
    EXPECT_FALSE(decode_report(bytes({1, 1, 1, 0x1b}))) << "a control character";
    EXPECT_FALSE(decode_report(bytes({1, 3, 9, 0, 7, 0, 3, 0, 0, 0, 0, 0}))) << "no name";
    EXPECT_FALSE(decode_report(bytes({1, 3, 10, 0, 8, 1, '<', 3, 0, 0, 0, 0, 0}))) << "a bad name";
    EXPECT_FALSE(decode_report(bytes({1, 3, 4, 0, 2, 1, 'b'}))) << "a link without numbers";
    EXPECT_FALSE(decode_report(
        bytes({1, 2, 11, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})))
        << "a number above 64 bits";
    EXPECT_FALSE(decode_report(Bytes(protocol::kMaxReportBytes + 1, std::byte{1})));
    const auto whole = encode_report(report_with_links(3));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto read = decode_report(base::ByteView(whole).first(size));
        if (read) EXPECT_LT(read->links.size(), 3u) << "cut between sections: " << size;
    }
}

TEST(NodeReport, HasTheNumbersOfTheStatus) {
    NodeStatus status;
    status.version = "1.2.3";
    status.ready = true;
    status.uptime_seconds = 61.9;
    status.work.requests[Outcome::local_hit] = 10;
    status.work.requests[Outcome::error] = 3;
    status.work.requests[Outcome::refused] = 4;
    status.work.bytes_to_clients = 1000;
    status.cache.objects = 5;
    status.work.origins_down = 2;
    status.cluster.origins = {{"far.test:80", 1.5, 0, 0, 0}, {"near.test:80", 0.5, 0, 0, 0}};
    status.answers = {{{"a.test:80", {}, {100, 38, 0}}, "a.test"},
                      {{"b.test:80", {}, {100, 9, 1}}, "b.test"},
                      {{"c.test:80", {}, {19, 19, 0}}, "c.test"}};
    status.disk.resize(5);
    status.disk[3].state = status.disk[4].state = DiskStatus::State::ready;
    status.disk[3].last_error = status.disk[4].last_error = "writing: No space left on device";
    status.disk[3].last_error_seconds = 3599;
    status.disk[4].last_error_seconds = 3601;
    status.disk[0].cap_bytes = status.disk[1].cap_bytes = 100;
    status.disk[1].state = DiskStatus::State::paused;
    status.disk[2].state = DiskStatus::State::off;
    status.summary.fill_ratio = 0.25;
    status.summary.expected_false_hit = 0.001;
    PeerStatus peer;
    peer.node = "b";
    peer.state = PeerState::lagging;
    peer.hits = 4;
    peer.served = 6;
    peer.lag_seconds = 1.5;
    status.cluster.peers.push_back(peer);
    status.cache.memory_cap_bytes = 4096;
    const auto report = report_of(status, 2);
    EXPECT_EQ(report.numbers.uptime_seconds, 61u);
    EXPECT_EQ(report.numbers.local_hits, 10u);
    EXPECT_EQ(report.numbers.errors, 3u);
    EXPECT_EQ(report.numbers.errors_5m, 2u);
    EXPECT_EQ(report.numbers.memory_cap_bytes, 4096u);
    EXPECT_EQ(report.numbers.disk_cap_bytes, 200u);
    EXPECT_EQ(report.numbers.disks_faulty, 3u) << "paused, off, and one with an error lately";
    EXPECT_EQ(report.numbers.disks_with_errors, 1u);
    EXPECT_EQ(report.numbers.origins_down, 2u);
    EXPECT_EQ(report.numbers.origins_slow, 1u);
    EXPECT_EQ(report.numbers.origins_failing, 1u) << "more than a tenth of at least 20 answers";
    EXPECT_EQ(report.numbers.summary_fill_ppm, 250'000u);
    EXPECT_EQ(report.numbers.expected_error_ppb, 1'000'000u);
    const ReportedLink b{"b", PeerState::lagging, 4, 6, 0, 0, 1500};
    EXPECT_EQ(report.links, std::vector{b});
}

}  // namespace node_report_test
}  // namespace proxy
