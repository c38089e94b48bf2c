#include "proxy/config/config_peers.hpp"
#include "proxy/config/parse_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace proxy {
namespace config_peers_test {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ConfigResult with_peers(const std::string& peers) {
    return parse_config(R"({"node": "a", "listen": "10.0.0.1:3128", "forward": {"enabled": true},
                            "cluster": {"key": "0123456789abcdef0123456789abcdef",
                                        "listen": "10.0.0.1:3129", "peers": )" +
                        peers + "}}");
}

std::vector<std::string> errors(const std::vector<ConfigError>& found) {
    std::vector<std::string> texts;
    for (const auto& error : found) texts.push_back(error.path + ": " + error.message);
    return texts;
}

ClusterConfig cluster(const std::string& peers) {
    auto read = with_peers(peers);
    EXPECT_TRUE(read.config) << describe(read.errors);
    return read.config ? *read.config->cluster : ClusterConfig();
}

const std::string kB = R"({"node": "b", "http": "10.0.0.2:3128", "link": "10.0.0.2:3129"})";
const std::string kC = R"({"node": "c", "http": "10.0.0.3:3128", "link": "10.0.0.3:3129"})";
const std::string kName = R"({"dns": "hearsay", "http": 3128, "link": 3129})";

PeerOrder order(const std::string& body) {
    auto parsed = parse_peer_order(body);
    if (auto* good = std::get_if<PeerOrder>(&parsed)) return *good;
    ADD_FAILURE() << ::testing::PrintToString(errors(std::get<std::vector<ConfigError>>(parsed)));
    return {};
}
std::vector<std::string> refused(const std::string& body) {
    auto parsed = parse_peer_order(body);
    if (auto* wrong = std::get_if<std::vector<ConfigError>>(&parsed)) return errors(*wrong);
    return {};
}

TEST(ConfigPeers, TakesNodesAtFixedPlacesAndNamesBehindWhichThereAreMore) {
    const auto read = cluster("[" + kB + ", " + kName + R"(, {"dns": "_ports.by.srv"}])");
    ASSERT_EQ(read.peers.size(), 1U);
    ASSERT_EQ(read.dns_peers.size(), 2U);
    EXPECT_EQ(read.dns_peers[0], (protocol::DnsPeers{"hearsay", 3128, 3129}));
    EXPECT_EQ(read.dns_peers[1], (protocol::DnsPeers{"_ports.by.srv"}));
    EXPECT_EQ(peers_json(read).dump(),
              std::string(R"([{"node":"b","http":"10.0.0.2:3128","link":"10.0.0.2:3129"},)") +
                  R"({"dns":"hearsay","http":3128,"link":3129},{"dns":"_ports.by.srv"}])");
}

TEST(ConfigPeers, SaysWhatIsWrongWithAName) {
    const auto wrong = [](const std::string& entry) {
        return errors(with_peers("[" + entry + "]").errors);
    };
    EXPECT_THAT(wrong(R"({"dns": "10.0.0.2", "http": 1, "link": 2})"),
                ElementsAre("$.cluster.peers[0].dns: is an address; a node at a fixed address has "
                            "node, http and link"));
    EXPECT_THAT(wrong(R"({"dns": "a b", "http": 1, "link": 2})"),
                ElementsAre("$.cluster.peers[0].dns: must be a host name"));
    EXPECT_THAT(wrong(R"({"dns": "x", "http": 1})"),
                ElementsAre("$.cluster.peers[0].link: is missing; without both ports, SRV records "
                            "have to say them"));
    EXPECT_THAT(wrong(R"({"dns": "x", "node": "b"})"),
                ElementsAre("$.cluster.peers[0].node: is learnt from whoever is behind the name"));
    EXPECT_THAT(wrong(kName + ", " + kName),
                ElementsAre("$.cluster.peers[1].dns: another entry has this name and link port"));
    EXPECT_THAT(wrong(R"({"dns": "x", "http": 70000, "link": 2})"), ::testing::SizeIs(1));
}

TEST(ConfigPeers, ANodeIsCalledAsItsHostUnlessItIsCalledOtherwise) {
    const auto read = parse_config(R"({"listen": "127.0.0.1:1", "forward": {"enabled": true}})");
    ASSERT_TRUE(read.config) << describe(read.errors);
    EXPECT_FALSE(read.config->node.empty());
    EXPECT_FALSE(parse_config(R"({"node": "", "listen": "127.0.0.1:1",
                                  "forward": {"enabled": true}})")
                     .config);
}

TEST(PeerOrder, AWholeListTakesThePlaceOfTheOneBefore) {
    auto list = cluster("[" + kB + ", " + kName + "]");
    const auto before = list;
    EXPECT_THAT(apply(order(R"({"peers": [)" + kC + "]}"), list), IsEmpty());
    const auto changed = difference(before, list, "a");
    EXPECT_THAT(changed.added, ElementsAre("c"));
    EXPECT_THAT(changed.removed, ElementsAre("b", "dns:hearsay"));
    EXPECT_EQ(peers_changed_text(changed), "added c; removed b dns:hearsay");
    const auto shown = json::parse(peers_changed_json(changed));
    EXPECT_EQ(shown["before"].size(), 2U);
    EXPECT_EQ(shown["after"][0]["node"], "c");
}

TEST(PeerOrder, AddsRemovesAndMoves) {
    auto list = cluster("[" + kB + ", " + kC + "]");
    const auto before = list;
    EXPECT_THAT(
        apply(order(R"({"remove": ["c"], "add": [)" + kName +
                    R"(, {"node": "b", "http": "10.0.0.9:3128", "link": "10.0.0.9:3129"}]})"),
              list),
        IsEmpty());
    const auto changed = difference(before, list, "a");
    EXPECT_EQ(peers_changed_text(changed), "added dns:hearsay; removed c; moved b");
    EXPECT_EQ(peers_changed_text(difference(list, list, "a")), "");
    EXPECT_THAT(apply(order(R"({"remove": ["dns:hearsay"]})"), list), IsEmpty());
    EXPECT_TRUE(list.dns_peers.empty());
}

TEST(PeerOrder, TheEntryOfThisNodeIsNoPeerThatComesOrGoes) {
    const auto before = cluster("[" + kB + "]");
    const auto list = cluster("[" + kB + ", " + kC + "]");
    EXPECT_EQ(peers_changed_text(difference(before, list, "c")), "");
    EXPECT_EQ(peers_changed_text(difference(list, before, "c")), "");
    EXPECT_EQ(peers_changed_text(difference(before, list, "a")), "added c");
}

TEST(PeerOrder, RefusesWhatCannotBe) {
    auto list = cluster("[" + kB + "]");
    EXPECT_THAT(errors(apply(order(R"({"remove": ["x"]})"), list)), ::testing::SizeIs(1));
    EXPECT_THAT(errors(apply(order(R"({"add": [{"node": "d", "http": "10.0.0.2:1",
                                                "link": "10.0.0.2:3129"}]})"),
                             list)),
                ElementsAre("$.add: d has the link address of b"));
    EXPECT_THAT(refused("nonsense"), ElementsAre(::testing::HasSubstr("$: is no JSON: line 1")));
    EXPECT_THAT(refused(R"({"peers": [], "add": []})"),
                ElementsAre("$.add: does not go with peers, which is the whole list"));
    EXPECT_THAT(refused(R"({"add": [], "add": [{"node": "d", "node": "e", "http": "d:1",
                                                "link": "d:2"}]})"),
                ElementsAre("$.add: stands twice in one object",
                            "$.add[0].node: stands twice in one object"));
    EXPECT_THAT(refused("[]"), ::testing::SizeIs(1));
    EXPECT_THAT(refused("{}"), ElementsAre("$: has neither peers, nor add, nor remove"));
    EXPECT_THAT(refused(R"({"add": [{"node": "d"}]})"),
                ElementsAre("$.add[0].http: missing", "$.add[0].link: missing"));
    EXPECT_THAT(refused(R"({"peers": [], "extra": 1})"), ::testing::SizeIs(1));
    EXPECT_THAT(refused(R"({"peers": [{"dns": "${HOME}"}]})"), ::testing::Not(IsEmpty()))
        << "a request does not read the environment";
}

}  // namespace config_peers_test
}  // namespace proxy
