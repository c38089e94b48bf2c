#include "measure/run/node_addresses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/address.hpp>
#include <stdexcept>

namespace measure {
namespace node_addresses_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A resolver with the answers of a test, which counts its look-ups.
struct Names {
    std::vector<std::pair<std::string, std::vector<std::string>>> entries;
    unsigned asked = 0;

    NodeAddresses addresses() {
        return NodeAddresses([this](const std::string& host) {
            ++asked;
            std::vector<boost::asio::ip::address> out;
            for (const auto& [name, texts] : entries) {
                if (name != host) continue;
                for (const auto& text : texts) out.push_back(boost::asio::ip::make_address(text));
            }
            return out;
        });
    }
};

std::vector<std::string> texts_of(const std::vector<HostPort>& addresses) {
    std::vector<std::string> out;
    for (const auto& each : addresses) out.push_back(each.text());
    return out;
}

TEST(Address, IsTakenApart) {
    const auto parts = [](const std::string& text) {
        const auto address = parse_address(text);
        return address.host + ' ' + std::to_string(address.port);
    };
    EXPECT_EQ(parts("127.0.0.1:3128"), "127.0.0.1 3128");
    EXPECT_EQ(parts("http://proxy:3128"), "proxy 3128");
    EXPECT_EQ(parts("http://proxy:3128/"), "proxy 3128");
    EXPECT_EQ(parts("http://proxy"), "proxy 80");
    EXPECT_EQ(parts("[::1]:3128"), "::1 3128");
    EXPECT_EQ(parts("http://[::1]/"), "::1 80");
    EXPECT_EQ(parse_address("[::1]", 9128).text(), "[::1]:9128");
    EXPECT_EQ(parse_address("::1", 9128).text(), "[::1]:9128") << "a command line takes brackets";
    EXPECT_EQ(parts("127.0.0.1:0"), "127.0.0.1 0");  // any free one
    EXPECT_EQ(parse_address("node-a", 9128).text(), "node-a:9128");
    EXPECT_EQ(parse_address("http://node-a:80", 9128).text(), "node-a:80");
}

TEST(Address, IsNamedWhenItIsNone) {
    for (const auto* text : {"", ":80", "https://a:1", "http://", "a:", "a:x", "a:70000",
                             "a:123456", "a:-1", "http://a/b", "a b:1", "u@a:1", "a:1?x"}) {
        try {
            parse_address(text);
            ADD_FAILURE() << text;
        } catch (const std::invalid_argument& error) {
            EXPECT_NE(std::string(error.what()).find('\'' + std::string(text) + '\''),
                      std::string::npos)
                << error.what();
        }
    }
}

TEST(Address, NeedsAPortWhereThereIsNoDefault) {
    for (const auto* text : {"zz", "127.0.0.1", "[::1]", "::1", "http://a/"})
        EXPECT_THROW(parse_address(text, 0), std::invalid_argument) << text;
    EXPECT_EQ(parse_address("127.0.0.1:0", 0).text(), "127.0.0.1:0");
    EXPECT_EQ(parse_address("[::1]:0", 0).text(), "[::1]:0");
    EXPECT_EQ(parse_address("a:8000", 0).text(), "a:8000");
}

TEST(Address, IsWrittenAsItIsRead) {
    for (const auto* text : {"127.0.0.1:3128", "[::1]:80", "proxy:1"}) {
        EXPECT_EQ(parse_address(text).text(), text);
    }
}

TEST(NodeAddresses, NameThatStandsForSeveralIsOneEntryForEach) {
    Names names{{{"hearsay", {"10.0.0.10", "10.0.0.9", "10.0.0.9"}}}};
    auto addresses = names.addresses();
    EXPECT_THAT(texts_of(addresses.expand({"dns:hearsay:3128"})),
                ElementsAre("10.0.0.9:3128", "10.0.0.10:3128"));
}

TEST(NodeAddresses, ListsNameTheNodesInOneOrder) {
    Names names{{{"hearsay", {"10.0.0.3", "10.0.0.2"}}}};
    auto addresses = names.addresses();
    EXPECT_THAT(texts_of(addresses.expand({"dns:http://hearsay:3128", "http://other:1"})),
                ElementsAre("10.0.0.2:3128", "10.0.0.3:3128", "other:1"));
    names.entries[0].second = {"10.0.0.2"};  // one left in between
    EXPECT_THAT(texts_of(addresses.expand({"dns:hearsay:9128"})),
                ElementsAre("10.0.0.2:9128", "10.0.0.3:9128"));
    EXPECT_EQ(names.asked, 1u);
}

TEST(NodeAddresses, NodeWithAddressesOfBothFamiliesIsOne) {
    Names names{{{"both", {"fd00::2", "10.0.0.2", "fd00::3", "10.0.0.3"}},
                 {"six", {"fd00::3", "fd00::2"}},
                 {"mostly_six", {"fd00::3", "10.0.0.2", "fd00::2"}}}};
    auto addresses = names.addresses();
    EXPECT_THAT(texts_of(addresses.expand({"dns:both:1"})),
                ElementsAre("10.0.0.2:1", "10.0.0.3:1"));
    EXPECT_THAT(texts_of(addresses.expand({"dns:six:1"})),
                ElementsAre("[fd00::2]:1", "[fd00::3]:1"));
    EXPECT_THAT(texts_of(addresses.expand({"dns:mostly_six:1"})),
                ElementsAre("[fd00::2]:1", "[fd00::3]:1"));
}

TEST(NodeAddresses, PlainAddressesAreLeftAsTheyAre) {
    Names names;
    auto addresses = names.addresses();
    EXPECT_THAT(texts_of(addresses.expand({"http://hearsay:3128", "127.0.0.1:9128"})),
                ElementsAre("hearsay:3128", "127.0.0.1:9128"));
    EXPECT_EQ(names.asked, 0u);
}

TEST(NodeAddresses, SaysWhatIsWrong) {
    Names names;
    auto addresses = names.addresses();
    EXPECT_THROW(addresses.expand({"dns:hearsay:70000"}), std::invalid_argument);
    EXPECT_THROW(addresses.expand({"dns:"}), std::invalid_argument);
    try {
        addresses.expand({"dns:nobody:1"});
        ADD_FAILURE() << "a name without addresses was taken";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "nobody has no address");
    }
}

TEST(NodeAddresses, AsksTheSystem) {
    NodeAddresses addresses;
    EXPECT_THAT(texts_of(addresses.expand({"dns:127.0.0.1:80", "dns:[::1]:80"})),
                ElementsAre("127.0.0.1:80", "[::1]:80"));
    try {
        addresses.expand({"dns:no.such.name.invalid:1"});  // RFC 6761 §6.4
        ADD_FAILURE() << "a name that cannot be was taken";
    } catch (const std::runtime_error& error) {
        EXPECT_THAT(error.what(), HasSubstr("cannot look up no.such.name.invalid: "));
    }
}

}  // namespace node_addresses_test
}  // namespace measure
