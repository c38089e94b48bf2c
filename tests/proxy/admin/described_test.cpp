// Every number that a table describes is shown, once, and explained.
#include "base/counters/counter_table.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "proxy/admin/metrics_text.hpp"
#include "proxy/admin/status_json.hpp"

namespace proxy {
namespace described_test {

using nlohmann::json;
using protocol::LinkCounters;
using protocol::SyncCounters;

/// Members that no family of /metrics shows by itself; their `help` names the family.
const std::set<std::string_view> kShownOtherwise{
    "upstream.peer_requests", "upstream.origin_hedges", "upstream.origin_hedges_outrun",
    "cluster.peers[].asked", "cluster.peers[].invalidations_received"};

/// Each number is another one, as unlike all others as can be.
class Numbers : public ::testing::Test {
protected:
    Numbers() {
        status.node = "a";
        auto& peer = status.cluster.peers.emplace_back();
        peer.node = "b";
        status.disk.emplace_back().path = "/d";
        for_each_table([&](const auto& table, auto& counts, const char*) {
            for (const auto& number : table) counts.*number.member = next_ += 1009;
        });
    }

    /// `act` gets each table, the numbers that it describes, and the labels that all of them have.
    template <class Act>
    void for_each_table(const Act& act) {
        auto& peer = status.cluster.peers.front();
        act(kTrafficCounters, static_cast<TrafficCounters&>(status.work), "");
        act(kNodeCounters, static_cast<NodeCounters&>(status), "");
        act(kCacheCounters, status.cache, "");
        act(kStoreDiskNumbers, status.store_disk, "");
        act(kDiskNumbers, static_cast<DiskCounters&>(status.disk.front()), "directory=\"/d\"");
        act(protocol::kLinkCounters, static_cast<LinkCounters&>(status.cluster), "");
        act(kPeerCounters, static_cast<PeerCounters&>(peer), "peer=\"b\"");
        act(protocol::kSyncCounters, static_cast<SyncCounters&>(peer), "peer=\"b\"");
    }

    NodeStatus status;

private:
    std::uint64_t next_ = 1'000'003;
};

json::json_pointer pointer_to(std::string_view path) {
    auto [section, name] = base::parts_of(path);
    if (section == "cluster.peers[]")
        return json::json_pointer("/cluster/peers/0/" + std::string(name));
    if (section == "cache.disk[]") return json::json_pointer("/cache/disk/0/" + std::string(name));
    return json::json_pointer((section.empty() ? "" : '/' + std::string(section)) + '/' +
                              std::string(name));
}

std::size_t count(std::string_view text, std::string_view part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
    return found;
}

TEST_F(Numbers, HaveARowForEachMember) {
    std::set<std::string_view> paths;
    for_each_table([&](const auto& table, auto& counts, const char*) {
        std::set<const std::uint64_t*> members;
        for (const auto& number : table) {
            EXPECT_TRUE(members.insert(&(counts.*number.member)).second) << number.path;
            EXPECT_TRUE(paths.insert(number.path).second) << number.path;
        }
    });
}

TEST_F(Numbers, StandInTheStatusOnce) {
    const auto text = status_json(status);
    const auto page = json::parse(text);
    for_each_table([&](const auto& table, const auto& counts, const char*) {
        for (const auto& number : table) {
            const auto value = counts.*number.member;
            ASSERT_TRUE(page.contains(pointer_to(number.path))) << number.path;
            EXPECT_EQ(page.at(pointer_to(number.path)), value) << number.path;
            EXPECT_EQ(count(text, ": " + std::to_string(value)), 1u) << number.path;
        }
    });
}

TEST_F(Numbers, StandInTheMetricsOnce) {
    const auto text = metrics_text(status);
    for_each_table([&](const auto& table, const auto& counts, std::string labels) {
        for (const auto& number : table) {
            EXPECT_EQ(number.family.empty(), kShownOtherwise.contains(number.path)) << number.path;
            if (number.family.empty()) continue;
            auto all = labels;
            if (!number.label.key.empty())
                all += (all.empty() ? "" : ",") + std::string(number.label.key) + "=\"" +
                       std::string(number.label.value) + '"';
            const auto value = counts.*number.member;
            const auto in_seconds = static_cast<double>(value) / 1e6;
            const auto line =
                '\n' + std::string(number.family) + (all.empty() ? "" : '{' + all + '}') + ' ' +
                (number.unit == "microseconds" ? json(in_seconds) : json(value)).dump() + '\n';
            EXPECT_EQ(count(text, line), 1u) << line;
        }
    });
}

TEST_F(Numbers, HaveAFamilyThatNamesKindAndUnit) {
    for_each_table([&](const auto& table, const auto&, const char*) {
        std::string_view family;
        for (const auto& number : table) {
            const auto goes_on = !number.family.empty() && number.family == family;
            EXPECT_EQ(number.help.empty(), goes_on) << number.path;
            family = number.family;
            if (family.empty()) continue;
            EXPECT_EQ(family.ends_with("_total"), number.kind == NumberKind::counter) << family;
            EXPECT_EQ(family.find("bytes") != family.npos, number.unit == "bytes") << family;
            EXPECT_EQ(family.find("seconds") != family.npos, number.unit == "microseconds")
                << family;
            EXPECT_EQ(family.find("microseconds"), family.npos) << "seconds are the base unit";
        }
    });
}

}  // namespace described_test
}  // namespace proxy
