#include "protocol/membership/membership.hpp"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

namespace protocol::test {
namespace membership_test {

using namespace std::chrono_literals;
using Meeting = Membership::Meeting;

const Membership::TimePoint kNow{1000s};

Instance instance_of(int number) {
    Instance instance{};
    instance[0] = static_cast<std::byte>(number);
    return instance;
}

class MembershipTest : public ::testing::Test {
protected:
    void look(const std::vector<std::string>& addresses, Membership::TimePoint now = kNow) {
        std::vector<PeerPlace> places;
        for (const auto& address : addresses) places.push_back({address, 3128, 3129});
        all.found(name, places, now);
    }
    Membership::ContactId at(const std::string& address) const {
        for (const auto& [id, contact] : all.contacts())
            if (contact.place.host == address) return id;
        return 0;
    }
    bool dialled(const std::string& address) const {
        const auto found = all.contacts().find(at(address));
        return found != all.contacts().end() && found->second.dialled;
    }
    /// The node answers there, and the link is made.
    Membership::MeetingResult link(const std::string& address, const std::string& node,
                                   int instance = 1, Membership::TimePoint now = kNow) {
        const auto met = all.met(at(address), node, instance_of(instance), now);
        if (met.meeting == Meeting::peer) all.up(at(address));
        return met;
    }
    /// It comes, and its link is welcomed.
    std::optional<Membership::Number> arrive(const std::string& node, const Instance& instance,
                                             const std::string& address,
                                             Membership::TimePoint now) {
        const auto number = all.came(node, instance, address, now);
        if (number) all.heard(*number, instance);
        return number;
    }
    static PeerConfig listed(const std::string& node, const std::string& address) {
        return {node, {address, 3128}, {address, 3129}};
    }

    const DnsPeers name{"cluster", 3128, 3129};
    Membership all{"me", 4, 30s};
};

TEST_F(MembershipTest, ListedPeersHaveNumbersAndPlacesAtOnce) {
    all.configure({listed("b", "10.0.0.2"), listed("c", "10.0.0.3")}, {}, kNow);
    EXPECT_EQ(all.number_of("b"), 0U);
    EXPECT_EQ(all.number_of("c"), 1U);
    EXPECT_EQ(all.number_of(""), std::nullopt);
    EXPECT_EQ(all.peers()[0].place.host, "10.0.0.2");
    EXPECT_TRUE(dialled("10.0.0.2"));
    EXPECT_TRUE(all.admits("b"));
    EXPECT_FALSE(all.admits("d"));
    EXPECT_EQ(all.came("d", instance_of(1), "10.0.0.4", kNow), std::nullopt);
}

TEST_F(MembershipTest, APlaceThatANameLeadsToIsAPeerWhenItHasSaidWhoItIs) {
    all.configure({}, {name}, kNow);
    look({"10.0.0.2", "10.0.0.3"});
    EXPECT_EQ(all.contacts().size(), 2U);
    EXPECT_EQ(all.size(), 0U);
    const auto met = link("10.0.0.3", "c");
    EXPECT_EQ(met.meeting, Meeting::peer);
    EXPECT_EQ(all.number_of("c"), met.number);
    EXPECT_EQ(all.peers()[met.number].place, (PeerPlace{"10.0.0.3", 3128, 3129}));
}

TEST_F(MembershipTest, OurOwnAddressIsNotDialledAgain) {
    all.configure({}, {name}, kNow);
    look({"10.0.0.1", "10.0.0.2"});
    all.met_self(at("10.0.0.1"), kNow);
    all.tidy(kNow + kSelfAgain - 1s);
    EXPECT_FALSE(dialled("10.0.0.1"));
    EXPECT_TRUE(dialled("10.0.0.2"));
    all.tidy(kNow + kSelfAgain);
    EXPECT_TRUE(dialled("10.0.0.1")) << "somebody else may be there by now";
    all.met_self(at("10.0.0.1"), kNow + kSelfAgain);
    look({"10.0.0.2"});
    EXPECT_EQ(at("10.0.0.1"), 0U);
}

TEST_F(MembershipTest, OfTwoAddressesOfOneNodeOneIsDialledAndTheOtherStandsIn) {
    all.configure({}, {name}, kNow);
    look({"10.0.0.2", "fd00::2"});
    ASSERT_EQ(link("10.0.0.2", "b").meeting, Meeting::peer);
    EXPECT_EQ(link("fd00::2", "b").meeting, Meeting::elsewhere);
    EXPECT_FALSE(dialled("fd00::2"));
    all.down(at("10.0.0.2"), kNow);
    EXPECT_TRUE(dialled("fd00::2"));
    ASSERT_EQ(link("fd00::2", "b").meeting, Meeting::peer);
    EXPECT_EQ(all.peers()[*all.number_of("b")].place.host, "fd00::2");
    EXPECT_EQ(all.size(), 1U);
}

TEST_F(MembershipTest, TwoNodesOfOneNameAreNotOnePeer) {
    all.configure({}, {name}, kNow);
    look({"10.0.0.2", "10.0.0.3"});
    ASSERT_EQ(link("10.0.0.2", "b", 1).meeting, Meeting::peer);
    EXPECT_EQ(link("10.0.0.3", "b", 2).meeting, Meeting::duplicate);
    EXPECT_EQ(link("10.0.0.3", "me", 3).meeting, Meeting::duplicate);
    EXPECT_TRUE(dialled("10.0.0.3"));
}

TEST_F(MembershipTest, AnInstanceThatHasSaidGoodbyeGivesItsNameToTheOneThatComes) {
    all.configure({}, {name}, kNow);
    look({"10.0.0.2", "10.0.0.3"});
    const auto b = link("10.0.0.2", "b", 1).number;
    arrive("b", instance_of(1), "10.0.0.2", kNow);
    EXPECT_EQ(all.asked_at(b).host, "10.0.0.2");
    EXPECT_EQ(link("10.0.0.3", "b", 2).meeting, Meeting::duplicate) << "both are alive";
    all.unheard(b, kNow);
    all.said_goodbye(b, instance_of(1));
    EXPECT_EQ(arrive("b", instance_of(2), "10.0.0.3", kNow), b);
    EXPECT_EQ(all.asked_at(b).host, "") << "where the other one answered it is not";
    EXPECT_EQ(link("10.0.0.3", "b", 2).meeting, Meeting::peer);
    EXPECT_EQ(all.asked_at(b).host, "10.0.0.3");
    all.down(at("10.0.0.2"), kNow);
    EXPECT_EQ(link("10.0.0.2", "b", 1).meeting, Meeting::replaced);
    EXPECT_EQ(all.asked_at(b).host, "10.0.0.3");
    EXPECT_EQ(all.peers()[b].contact, at("10.0.0.3"));
}

TEST_F(MembershipTest, TheOneWhoReplacesAnInstanceThatHasLeftMayBeMetBeforeItComes) {
    all.configure({}, {name}, kNow);
    look({"10.0.0.2", "10.0.0.3"});
    const auto b = link("10.0.0.2", "b", 1).number;
    all.said_goodbye(b, instance_of(1));
    EXPECT_EQ(link("10.0.0.3", "b", 2).meeting, Meeting::peer);
    EXPECT_EQ(all.peers()[b].contact, at("10.0.0.3"));
    EXPECT_EQ(link("10.0.0.2", "b", 1).meeting, Meeting::replaced);
}

TEST_F(MembershipTest, AnInstanceThatHasLeftIsStillReachedWhileNobodyHasItsName) {
    all.configure({}, {name}, kNow);
    look({"10.0.0.2"});
    const auto b = link("10.0.0.2", "b", 1).number;
    all.said_goodbye(b, instance_of(1));
    all.down(at("10.0.0.2"), kNow);
    EXPECT_EQ(link("10.0.0.2", "b", 1).meeting, Meeting::peer) << "so that it is sent the purges";
}

TEST_F(MembershipTest, AListedPeerIsNotAskedWhereAnotherInstanceOfItIs) {
    all.configure({listed("b", "b.test")}, {}, kNow);
    link("b.test", "b", 1);
    arrive("b", instance_of(1), "10.0.0.2", kNow);
    EXPECT_EQ(all.asked_at(0).host, "b.test");
    all.unheard(0, kNow);
    all.said_goodbye(0, instance_of(1));
    arrive("b", instance_of(2), "10.0.0.3", kNow);
    EXPECT_EQ(all.asked_at(0).host, "") << "the name still leads to the one that has left";
    all.down(at("b.test"), kNow);
    EXPECT_EQ(link("b.test", "b", 1).meeting, Meeting::replaced);
    EXPECT_TRUE(dialled("b.test"));
    EXPECT_EQ(all.asked_at(0).host, "");
    EXPECT_EQ(link("b.test", "b", 2).meeting, Meeting::peer);
    EXPECT_EQ(all.asked_at(0).host, "b.test");
}

TEST_F(MembershipTest, AListedPeerThatCannotBeDialledIsAskedWhereTheListSays) {
    all.configure({listed("b", "10.0.0.2")}, {}, kNow);
    arrive("b", instance_of(1), "10.0.0.2", kNow);
    EXPECT_EQ(all.asked_at(0).host, "10.0.0.2");
    all.unheard(0, kNow);
    arrive("b", instance_of(2), "10.0.0.2", kNow);
    EXPECT_EQ(all.asked_at(0).host, "10.0.0.2");
}

TEST_F(MembershipTest, ANodeThatComesBackAtAnotherAddressKeepsItsNumber) {
    all.configure({}, {name}, kNow);
    look({"10.0.0.2"});
    const auto before = link("10.0.0.2", "b", 1);
    all.down(at("10.0.0.2"), kNow);
    look({"10.0.0.7"}, kNow + 1s);
    const auto after = link("10.0.0.7", "b", 2, kNow + 2s);
    EXPECT_EQ(after.meeting, Meeting::peer);
    EXPECT_EQ(after.number, before.number);
    EXPECT_EQ(all.peers()[after.number].place.host, "10.0.0.7");
    all.tidy(kNow + 31s);
    EXPECT_EQ(at("10.0.0.2"), 0U);
    EXPECT_EQ(all.number_of("b"), after.number);
}

TEST_F(MembershipTest, AnotherNodeAtAnOldAddressIsAnotherPeer) {
    all.configure({}, {name}, kNow);
    look({"10.0.0.2"});
    const auto b = link("10.0.0.2", "b");
    all.down(at("10.0.0.2"), kNow);
    const auto c = link("10.0.0.2", "c", 2, kNow + 1s);
    EXPECT_NE(b.number, c.number);
    EXPECT_EQ(all.peers()[b.number].place.host, "") << "it is not there any more";
    EXPECT_EQ(all.size(), 2U);
    all.tidy(kNow + 31s);
    EXPECT_EQ(all.number_of("b"), std::nullopt);
    EXPECT_EQ(all.number_of("c"), c.number);
}

TEST_F(MembershipTest, ASilentPeerOutsideTheNameIsForgotten) {
    all.configure({}, {name}, kNow);
    look({"10.0.0.2", "10.0.0.3"});
    link("10.0.0.2", "b");
    look({"10.0.0.3"}, kNow + 5s);
    all.tidy(kNow + 100s);
    EXPECT_TRUE(all.number_of("b")) << "there is a link";
    all.down(at("10.0.0.2"), kNow + 100s);
    all.tidy(kNow + 129s);
    EXPECT_TRUE(dialled("10.0.0.2")) << "it may come back";
    all.tidy(kNow + 130s);
    EXPECT_EQ(at("10.0.0.2"), 0U);
    EXPECT_FALSE(all.number_of("b"));
    EXPECT_TRUE(dialled("10.0.0.3")) << "the name leads there";
}

TEST_F(MembershipTest, APeerWithALinkToThisNodeIsKept) {
    all.configure({}, {name}, kNow);
    const auto number = arrive("b", instance_of(1), "10.0.0.2", kNow);
    ASSERT_TRUE(number);
    EXPECT_TRUE(dialled("10.0.0.2")) << "it is looked for where it came from";
    EXPECT_EQ(all.peers()[*number].place.host, "") << "but not asked there before it is known";
    all.tidy(kNow + 60s);
    EXPECT_EQ(at("10.0.0.2"), 0U);
    EXPECT_EQ(all.number_of("b"), number);
    all.unheard(*number, kNow + 61s);
    all.tidy(kNow + 90s);
    EXPECT_TRUE(all.number_of("b"));
    all.tidy(kNow + 91s);
    EXPECT_FALSE(all.number_of("b"));
}

TEST_F(MembershipTest, ANewcomerWithoutALinkIsForgotten) {
    all.configure({}, {name}, kNow);
    ASSERT_TRUE(all.came("b", instance_of(1), "10.0.0.2", kNow));
    all.tidy(kNow + 29s);
    EXPECT_TRUE(all.number_of("b"));
    all.tidy(kNow + 30s);
    EXPECT_FALSE(all.number_of("b"));
    EXPECT_TRUE(all.contacts().empty());
}

TEST_F(MembershipTest, TheNumberOfOneWhoIsGoneRestsBeforeAnotherGetsIt) {
    all.configure({}, {name}, kNow);
    const auto b = arrive("b", instance_of(1), "10.0.0.2", kNow);
    all.unheard(*b, kNow);
    all.tidy(kNow + 30s);
    const auto c = arrive("c", instance_of(2), "10.0.0.3", kNow + 31s);
    EXPECT_NE(b, c);
    const auto d = arrive("d", instance_of(3), "10.0.0.4", kNow + 30s + kNumberRests);
    EXPECT_EQ(d, b);
}

TEST_F(MembershipTest, ThereIsRoomForSoMany) {
    all.configure({}, {name}, kNow);
    for (const auto* node : {"b", "c", "d", "e"})
        EXPECT_TRUE(arrive(node, instance_of(1), "::1", kNow));
    EXPECT_EQ(all.came("f", instance_of(1), "::1", kNow), std::nullopt);
    look({"10.0.0.6"});
    EXPECT_EQ(link("10.0.0.6", "f").meeting, Meeting::full);
    std::vector<std::string> many;
    for (int i = 0; i < 100; ++i) many.push_back("10.0.1." + std::to_string(i));
    look(many);
    EXPECT_EQ(all.contacts().size(), 24U);
}

TEST_F(MembershipTest, ASilentPeerMakesRoomForANewcomer) {
    all.configure({listed("b", "10.0.0.2")}, {name}, kNow);
    for (const auto* node : {"c", "d", "e"}) arrive(node, instance_of(1), "::1", kNow);
    all.unheard(*all.number_of("d"), kNow + 1s);
    all.unheard(*all.number_of("c"), kNow + 2s);
    EXPECT_TRUE(arrive("f", instance_of(1), "::1", kNow + 3s));
    EXPECT_FALSE(all.number_of("d")) << "silent for longest";
    EXPECT_TRUE(all.number_of("c"));
    EXPECT_TRUE(all.number_of("b")) << "listed";
}

TEST_F(MembershipTest, TheListIsHeededAsSoonAsThereIsRoom) {
    all.configure({}, {name}, kNow);
    for (const auto* node : {"c", "d", "e", "f"}) arrive(node, instance_of(1), "::1", kNow);
    all.configure({listed("b", "10.0.0.2")}, {name}, kNow);
    EXPECT_FALSE(all.number_of("b"));
    all.unheard(*all.number_of("d"), kNow);
    all.tidy(kNow + 1s);
    EXPECT_TRUE(all.number_of("b"));
    EXPECT_TRUE(dialled("10.0.0.2"));
}

TEST_F(MembershipTest, AReturningPeerHasItsEarlierNumber) {
    all.configure({listed("b", "10.0.0.2")}, {}, kNow);
    for (int i = 0; i < 2000; ++i) {
        all.configure({}, {}, kNow);
        all.configure({listed("b", "10.0.0.2")}, {}, kNow);
    }
    EXPECT_EQ(all.number_of("b"), 0U);
}

TEST_F(MembershipTest, AnotherNodeWhereAPeerStoodInTakesNothingFromIt) {
    all.configure({}, {name}, kNow);
    look({"10.0.0.2", "10.0.0.3"});
    const auto p = link("10.0.0.2", "p");
    ASSERT_EQ(link("10.0.0.3", "p").meeting, Meeting::elsewhere);
    all.down(at("10.0.0.2"), kNow);  // both are dialled
    ASSERT_EQ(link("10.0.0.2", "p").meeting, Meeting::peer);
    ASSERT_EQ(link("10.0.0.3", "q").meeting, Meeting::peer);
    EXPECT_EQ(all.peers()[p.number].place.host, "10.0.0.2");
    EXPECT_EQ(all.peers()[p.number].contact, at("10.0.0.2"));
}

TEST_F(MembershipTest, TakenFromTheListAPeerGoesAndTheOthersStay) {
    all.configure({listed("b", "10.0.0.2"), listed("c", "10.0.0.3")}, {}, kNow);
    const auto contact = at("10.0.0.3");
    all.up(contact);
    all.configure({listed("c", "10.0.0.3"), listed("d", "10.0.0.4")}, {}, kNow);
    EXPECT_EQ(all.number_of("b"), std::nullopt);
    EXPECT_EQ(at("10.0.0.2"), 0U);
    EXPECT_EQ(all.number_of("c"), 1U);
    EXPECT_EQ(at("10.0.0.3"), contact);
    EXPECT_EQ(all.number_of("d"), 2U);
    all.configure({listed("c", "10.0.0.9")}, {}, kNow);
    EXPECT_EQ(all.number_of("c"), 1U);
    EXPECT_EQ(at("10.0.0.3"), 0U);
    EXPECT_TRUE(dialled("10.0.0.9"));
}

TEST_F(MembershipTest, AListedPeerIsReachedWhereTheListSays) {
    all.configure({listed("b", "b.example")}, {name}, kNow);
    look({"10.0.0.2"});
    EXPECT_EQ(link("10.0.0.2", "b").meeting, Meeting::elsewhere);
    EXPECT_EQ(all.peers()[0].place.host, "b.example");
    EXPECT_EQ(link("b.example", "b").meeting, Meeting::peer);
}

TEST_F(MembershipTest, AListedPeerThatFindsNoRoomIsNamedUntilItHasSome) {
    all.configure({}, {name}, kNow);
    const std::vector<std::string> found{"b", "c", "d", "e"};
    for (const auto& node : found) EXPECT_TRUE(arrive(node, instance_of(1), "::1", kNow));
    all.configure({listed("x", "10.0.0.9")}, {name}, kNow);
    EXPECT_EQ(all.unplaced(), std::vector<std::string>{"x"});
    EXPECT_EQ(all.number_of("x"), std::nullopt);
    all.unheard(*all.number_of("b"), kNow);
    all.tidy(kNow + 1min);
    EXPECT_TRUE(all.unplaced().empty());
    EXPECT_NE(all.number_of("x"), std::nullopt);
}

TEST_F(MembershipTest, ANameThatIsNoLongerLookedUpTakesItsPeersWithIt) {
    all.configure({}, {name}, kNow);
    look({"10.0.0.2"});
    link("10.0.0.2", "b");
    arrive("b", instance_of(1), "10.0.0.2", kNow);
    all.configure({}, {}, kNow + 1s);
    EXPECT_EQ(all.contacts().size(), 0U);
    EXPECT_EQ(all.size(), 0U);
    EXPECT_FALSE(all.admits("b"));
}

TEST_F(MembershipTest, AnUnlistedPeerStaysWhileANameLeadsToIt) {
    all.configure({listed("b", "10.0.0.2")}, {name}, kNow);
    look({"10.0.0.2"});
    const auto contact = at("10.0.0.2");
    link("10.0.0.2", "b");
    all.configure({}, {name}, kNow);
    EXPECT_EQ(at("10.0.0.2"), contact) << "and keeps its link";
    EXPECT_EQ(all.number_of("b"), 0U);
    EXPECT_EQ(all.contacts().at(contact).node, "");
    all.configure({listed("b", "10.0.0.2")}, {name}, kNow);
    EXPECT_EQ(at("10.0.0.2"), contact);
    EXPECT_EQ(all.contacts().at(contact).node, "b");
}

TEST_F(MembershipTest, AnotherPortForRequestsIsThatOfThoseWhoStay) {
    all.configure({}, {name}, kNow);
    look({"10.0.0.2"});
    const auto met = link("10.0.0.2", "b");
    const std::vector<PeerPlace> moved{{"10.0.0.2", 8080, 3129}};
    all.found(name, moved, kNow);
    EXPECT_EQ(all.peers()[met.number].place.http_port, 8080);
}

TEST_F(MembershipTest, APeerFromAPlaceThatStoodInIsDialledThere) {
    all.configure({}, {name}, kNow);
    look({"10.0.0.2", "10.0.0.3"});
    link("10.0.0.2", "b");
    link("10.0.0.3", "b");
    ASSERT_FALSE(dialled("10.0.0.3"));
    arrive("c", instance_of(2), "10.0.0.3", kNow);
    EXPECT_TRUE(dialled("10.0.0.3"));
}

TEST_F(MembershipTest, TakenOverPeersKeepTheirNumbers) {
    all.configure({listed("b", "10.0.0.2")}, {name}, kNow);
    look({"10.0.0.3"});
    link("10.0.0.3", "c");
    Membership next("me", 4, 30s);
    next.take_over(all, kNow);
    next.configure({}, {name}, kNow);
    EXPECT_EQ(next.number_of("c"), all.number_of("c"));
    EXPECT_EQ(next.contacts().count(at("10.0.0.3")), 1U);
    EXPECT_EQ(next.contacts().count(at("10.0.0.2")), 0U);
    next.tidy(kNow + 30s);
    EXPECT_EQ(next.number_of("b"), std::nullopt) << "neither listed nor met";
    EXPECT_TRUE(next.number_of("c")) << "the name still leads there";
}

TEST_F(MembershipTest, APlaceThatWasForgottenWhileItAnsweredIsNoPeer) {
    all.configure({}, {name}, kNow);
    look({"10.0.0.2"});
    const auto contact = at("10.0.0.2");
    look({});
    all.tidy(kNow + 30s);
    EXPECT_EQ(all.met(contact, "b", instance_of(1), kNow).meeting, Meeting::forgotten);
    all.up(contact);
    all.down(contact, kNow);
    all.met_self(contact, kNow);
}

TEST(PeersProvidedFor, AreExactlyThoseListedOrRoomForThoseWhoMayCome) {
    EXPECT_EQ(peers_provided_for(false, 0, 0), 1U);
    EXPECT_EQ(peers_provided_for(false, 7, 63), 7U);
    EXPECT_EQ(peers_provided_for(true, 0, 0), 8U);
    EXPECT_EQ(peers_provided_for(true, 8, 8), 8U);
    EXPECT_EQ(peers_provided_for(true, 9, 8), 32U);
    EXPECT_EQ(peers_provided_for(true, 63, 0), 128U);
    EXPECT_EQ(peers_provided_for(true, 5, 32), 32U) << "they may come back";
    EXPECT_EQ(peers_provided_for(true, 4, 32), 8U);
}

TEST_F(MembershipTest, AHelloOfAPeerThatIsListedChangesNothingThatOthersFollow) {
    all.configure({listed("b", "10.0.0.2"), listed("c", "10.0.0.3")}, {}, kNow);
    const auto before = all.changes();
    link("10.0.0.2", "b");
    arrive("b", instance_of(1), "10.0.0.2", kNow);
    all.tidy(kNow + 1s);
    EXPECT_EQ(all.changes(), before);
    all.down(at("10.0.0.2"), kNow);
    EXPECT_NE(all.changes(), before);
}

TEST_F(MembershipTest, APlaceStaysWhereTheOneWhoWasThereMakesRoomForTheNewcomer) {
    all = Membership{"me", 1, 30s};
    all.configure({}, {name}, kNow);
    look({"10.0.0.2"});
    link("10.0.0.2", "b");
    const auto place = at("10.0.0.2");
    look({});
    all.down(place, kNow);
    const auto met = all.met(place, "c", instance_of(2), kNow + 1s);
    EXPECT_EQ(met.meeting, Meeting::peer);
    EXPECT_EQ(all.number_of("b"), std::nullopt);
    ASSERT_TRUE(all.contacts().contains(place));
    EXPECT_EQ(all.contacts().at(place).peer, met.number);
    EXPECT_EQ(all.peers()[met.number].contact, place);
}

/// Everything that others follow, as text.
std::string seen(const Membership& all) {
    std::ostringstream out;
    const auto put = [&](const PeerPlace& place) {
        out << place.host << ':' << place.http_port << ':' << place.link_port << ' ';
    };
    for (const auto& peer : all.peers()) {
        out << peer.node << '@' << peer.contact.value_or(0) << ' ';
        put(peer.place);
        put(all.asked_at(static_cast<Membership::Number>(&peer - all.peers().data())));
    }
    for (const auto& [id, contact] : all.contacts()) {
        out << id << '=' << contact.node << contact.peer.value_or(99) << contact.dialled << ' ';
        put(contact.place);
    }
    return out.str();
}

/// Each peer is at a place that there is, where it was met last.
void expect_sound(const Membership& all) {
    for (Membership::Number number = 0; number < all.peers().size(); ++number) {
        const auto& place = all.peers()[number].contact;
        if (!place) continue;
        ASSERT_TRUE(all.contacts().contains(*place)) << number;
        ASSERT_EQ(all.contacts().at(*place).peer, number);
        ASSERT_FALSE(all.peers()[number].node.empty());
    }
}

TEST_F(MembershipTest, StaysSoundUnderRandomEventsAndCountsEachChange) {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto any = [&](std::size_t below) {
            return static_cast<std::size_t>(random() % below);
        };
        const auto node = [&] { return std::string(1, "mbcdefg"[any(7)]); };
        const auto host = [&] { return "10.0.0." + std::to_string(1 + any(7)); };
        Membership changing("m", 3, 30s);
        auto now = kNow;
        for (int step = 0; step < 100; ++step) {
            const auto before = seen(changing);
            const auto count = changing.changes();
            now += std::chrono::seconds(any(20));
            std::vector<Membership::ContactId> ids{12345};
            for (const auto& [id, contact] : changing.contacts()) ids.push_back(id);
            const auto id = ids[any(ids.size())];
            std::vector<PeerConfig> wanted;
            std::vector<PeerPlace> places;
            const auto first = any(6);
            for (std::size_t i = 0, some = any(4); i < some; ++i) {
                wanted.push_back(listed(std::string(1, "bcdefg"[(first + i) % 6]),
                                        "10.0.0." + std::to_string(1 + (first + 2 * i) % 7)));
                places.push_back({host(), 3128, 3129});
            }
            switch (any(9)) {
                case 0:
                    changing.configure(wanted, {}, now);
                    break;
                case 1:
                    changing.configure(wanted, {name}, now);
                    break;
                case 2:
                    if (changing.is_open()) changing.found(name, places, now);
                    break;
                case 3: {
                    // The hello verifies the node that a place is expected to have.
                    const auto known = changing.contacts().find(id);
                    const auto there = known != changing.contacts().end();
                    if (there && (known->second.up || !known->second.dialled)) break;
                    const auto who =
                        there && !known->second.node.empty() ? known->second.node : node();
                    const auto met =
                        changing.met(id, who, instance_of(static_cast<int>(any(3))), now);
                    if (met.meeting == Meeting::peer && any(2) == 0) changing.up(id);
                    break;
                }
                case 4:
                    changing.met_self(id, now);
                    break;
                case 5:
                    changing.down(id, now);
                    break;
                case 6: {
                    const auto who = instance_of(1 + static_cast<int>(any(3)));
                    const auto number = changing.came(node(), who, host(), now);
                    if (number && any(2) == 0) changing.heard(*number, who);
                    break;
                }
                case 7: {
                    const auto number = changing.number_of(node());
                    if (!number) break;
                    if (any(2) == 0)
                        changing.said_goodbye(*number, changing.peers()[*number].heard_instance);
                    changing.unheard(*number, now);
                    break;
                }
                default:
                    changing.tidy(now);
            }
            expect_sound(changing);
            if (HasFatalFailure()) return;
            if (seen(changing) != before) {
                ASSERT_NE(changing.changes(), count) << "step " << step;
            }
        }
    }
}

}  // namespace membership_test
}  // namespace protocol::test
