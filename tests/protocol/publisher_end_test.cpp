#include "protocol/links/publisher_end.hpp"

#include <gtest/gtest.h>

#include "tests/protocol/link_ends.hpp"

namespace protocol::test {
namespace publisher_end_test {

/// a dials b, which follows.
class PublisherEndTest : public ::testing::Test {
protected:
    PublisherEnd& end() { return *publishing.end; }
    /// The link is up, and all that was to be said now is said.
    void link() {
        b_end = subscribing(b);
        exchange(end(), *b_end);
        ASSERT_TRUE(end().up());
    }
    Challenge challenge_of_b() {
        b_end = subscribing(b);
        b_end->on_hello(HelloMessage(says<Hello>(end())), kNow);
        return says<Challenge>(*b_end);
    }

    MachineNode a{"a", "b", 1}, b{"b", "a", 2};
    Publishing publishing{a};
    std::unique_ptr<SubscriberEnd> b_end;
};

TEST_F(PublisherEndTest, GreetsProvesItselfAndWaitsToBeWelcomed) {
    EXPECT_LE(end().due(), kNow);
    const auto hello = says<Hello>(end());
    EXPECT_EQ(hello.from, "a");
    EXPECT_EQ(hello.to, "b");
    EXPECT_FALSE(end().next(kNow));
    EXPECT_EQ(end().due(), TimePoint::max());
    EXPECT_FALSE(end().tags());

    b_end = subscribing(b);
    b_end->on_hello(HelloMessage(hello), kNow);
    end().on_hello(HelloMessage(says<Challenge>(*b_end)), kNow);
    EXPECT_EQ(publishing.owner.met_nodes, std::vector<std::string>{"b"});
    EXPECT_TRUE(end().tags());
    EXPECT_FALSE(end().greeted());
    b_end->on_hello(HelloMessage(says<Proof>(end())), kNow);
    EXPECT_FALSE(end().next(kNow)) << "it is not welcome yet";
    EXPECT_EQ(publishing.owner.ups, 0);

    end().on_message(says<Welcome>(*b_end), kNow);
    EXPECT_TRUE(end().up());
    EXPECT_EQ(publishing.owner.ups, 1);
    EXPECT_EQ(publishing.kept.counters.connects, 1U);
    EXPECT_FALSE(end().next(kNow)) << "it does not know yet what b holds";
    EXPECT_EQ(end().due(), TimePoint::max());
    end().on_message(says<Heartbeat>(*b_end), kNow);
    EXPECT_LE(end().due(), kNow);
    says<SnapshotBegin>(end());
    EXPECT_FALSE(end().over(kNow));
}

TEST_F(PublisherEndTest, TheTokenIsGoodBeforeTheFirstMessageToThePeer) {
    const auto before = a.state.neighbours.take_view();
    link();
    const auto after = a.state.neighbours.take_view();
    ASSERT_TRUE(after);
    const auto token = b.state.neighbours.take_view()->peers[0].token;
    EXPECT_FALSE(before->authenticate("b", token));
    EXPECT_EQ(after->authenticate("b", token), 0U);
}

TEST_F(PublisherEndTest, ARefusalEndsItWhetherItComesAtOnceOrAfterTheProof) {
    says<Hello>(end());
    end().on_hello(HelloMessage(Refusal{Error::wrong_key}), kNow);
    EXPECT_EQ(over(end()), Error::wrong_key);
    EXPECT_FALSE(end().next(kNow));

    Publishing later(a);
    b_end = subscribing(b);
    b_end->on_hello(HelloMessage(says<Hello>(*later.end)), kNow);
    later.end->on_hello(HelloMessage(says<Challenge>(*b_end)), kNow);
    says<Proof>(*later.end);
    later.end->on_hello(HelloMessage(Refusal{Error::duplicate_id}), kNow);
    EXPECT_EQ(over(*later.end), Error::duplicate_id);
}

TEST_F(PublisherEndTest, AnUnexpectedMessageOfTheHelloEndsIt) {
    says<Hello>(end());
    end().on_hello(HelloMessage(Proof{}), kNow);
    EXPECT_EQ(over(end()), Error::unexpected_frame);

    Publishing garbled(a);
    garbled.end->on_hello(make_error_code(Error::malformed_frame), kNow);
    EXPECT_EQ(over(*garbled.end), Error::malformed_frame);

    Publishing early(a);
    b_end = subscribing(b);
    b_end->on_hello(HelloMessage(says<Hello>(*early.end)), kNow);
    early.end->on_hello(HelloMessage(says<Challenge>(*b_end)), kNow);
    early.end->on_message(Heartbeat{}, kNow);
    EXPECT_EQ(over(*early.end), Error::unexpected_frame);
    EXPECT_EQ(early.owner.ups, 0);
}

TEST_F(PublisherEndTest, AnUnwantedNodeGetsNoProof) {
    const auto challenge = challenge_of_b();
    publishing.owner.answer = make_error_code(Error::reached_elsewhere);
    end().on_hello(HelloMessage(challenge), kNow);
    EXPECT_EQ(over(end()), Error::reached_elsewhere);
    EXPECT_FALSE(end().next(kNow));
    EXPECT_FALSE(end().tags());
}

TEST_F(PublisherEndTest, ItRecognisesItsOwnNode) {
    auto own = says<Hello>(end());
    Challenge echo;
    echo.instance = own.instance;
    end().on_hello(HelloMessage(echo), kNow);
    EXPECT_EQ(over(end()), Error::own_id);
    EXPECT_EQ(publishing.owner.selves, 1);
    EXPECT_TRUE(publishing.owner.met_nodes.empty());
}

TEST_F(PublisherEndTest, TheHelloHasItsTime) {
    const auto limit = kNow + a.state.config.timings.hello;
    EXPECT_FALSE(end().over(limit - 1ns));
    EXPECT_EQ(over(end(), limit), Error::hello_timeout);
    const auto challenge = challenge_of_b();
    end().on_hello(HelloMessage(challenge), limit - 1ns);
    EXPECT_EQ(over(end(), limit), Error::hello_timeout) << "it is not over with the challenge";
}

TEST_F(PublisherEndTest, BytesExtendTheHelloButNotForEver) {
    const auto patience = a.state.config.timings.hello;
    EXPECT_TRUE(end().met_silence());
    auto now = kNow;
    for (; now < kNow + (HelloDeadline::kLongestHello - 1) * patience; now += patience / 2) {
        EXPECT_FALSE(end().over(now));
        end().heard_in_hello(now);
        EXPECT_EQ(end().limit().at, now + patience);
    }
    EXPECT_FALSE(end().met_silence());
    end().heard_in_hello(now + patience - 1ns);
    EXPECT_EQ(end().limit().at, kNow + HelloDeadline::kLongestHello * patience);
}

TEST_F(PublisherEndTest, APeerThatIsForgottenMeanwhileIsNotWelcome) {
    const auto challenge = challenge_of_b();
    end().on_hello(HelloMessage(challenge), kNow);
    pass(end(), *b_end, kNow);
    publishing.kept.peer.reset();
    pass(*b_end, end(), kNow);
    EXPECT_EQ(over(end()), Error::no_peer_any_more);
    EXPECT_FALSE(end().up());
}

/// The reports among all that an end has to say now.
std::vector<Bytes> reports_of(LinkEnd& end, TimePoint now) {
    std::vector<Bytes> all;
    while (const auto said = end.next(now)) {
        const auto* message = std::get_if<Message>(&*said);
        const auto* report = message == nullptr ? nullptr : std::get_if<Report>(message);
        if (report != nullptr) all.emplace_back(report->body.begin(), report->body.end());
    }
    return all;
}

std::shared_ptr<const Bytes> bytes_of_report(unsigned value) {
    return std::make_shared<const Bytes>(3, static_cast<std::byte>(value));
}

TEST_F(PublisherEndTest, AReportFollowsTheNextHeartbeatOnce) {
    link();
    a.state.report = {1, bytes_of_report(1)};
    EXPECT_TRUE(reports_of(end(), kNow).empty()) << "there is no heartbeat to follow";
    const auto later = kNow + a.state.config.timings.heartbeat;
    EXPECT_EQ(reports_of(end(), later), std::vector<Bytes>{*bytes_of_report(1)});
    EXPECT_TRUE(reports_of(end(), later + a.state.config.timings.heartbeat).empty());
    a.state.report = {2, bytes_of_report(2)};
    EXPECT_EQ(reports_of(end(), later + 2 * a.state.config.timings.heartbeat),
              std::vector<Bytes>{*bytes_of_report(2)});
}

TEST_F(PublisherEndTest, AReportEndsWithTheClockOfTheMomentThatItLeavesAt) {
    link();
    a.state.report = {1, bytes_of_report(1), kNow, 0x0102030405060708};
    const auto later = kNow + a.state.config.timings.heartbeat;
    const auto sent = reports_of(end(), later);
    const auto waited =
        std::chrono::duration_cast<std::chrono::milliseconds>(a.state.config.timings.heartbeat)
            .count();
    ASSERT_EQ(sent.size(), 1U);
    ASSERT_EQ(sent[0].size(), 3 + kReportClockBytes);
    const Bytes section(sent[0].begin() + 3, sent[0].end());
    EXPECT_EQ(section[0], std::byte{4});
    EXPECT_EQ(section[1], std::byte{8});
    std::uint64_t clock = 0;
    for (std::size_t i = 2; i < section.size(); ++i)
        clock = clock << 8 | std::to_integer<std::uint64_t>(section[i]);
    EXPECT_EQ(clock, 0x0102030405060708 + static_cast<std::uint64_t>(waited));
}

TEST_F(PublisherEndTest, ANewLinkCarriesTheReportAtOnce) {
    a.state.report = {7, bytes_of_report(7)};
    link();
    const auto& last = b.feeds.last_report(0);
    EXPECT_EQ(last.bytes, *bytes_of_report(7));
    EXPECT_EQ(last.at, kNow);
}

TEST_F(PublisherEndTest, APeerOfAnEarlierVersionGetsNoReport) {
    a.state.report = {1, bytes_of_report(1)};
    b_end = subscribing(b);
    b_end->on_hello(HelloMessage(says<Hello>(end())), kNow);
    end().on_hello(HelloMessage(says<Challenge>(*b_end)), kNow);
    b_end->on_hello(HelloMessage(says<Proof>(end())), kNow);
    end().on_message(says<Welcome>(*b_end), kNow);
    end().on_message(Heartbeat{0, 0, kListensElsewhere, 1s}, kNow);
    EXPECT_TRUE(reports_of(end(), kNow).empty());
    EXPECT_TRUE(reports_of(end(), kNow + 2s).empty());
    end().on_message(Heartbeat{0, 0, kListensElsewhere, 1s, kTakesReports}, kNow + 2s);
    EXPECT_LE(end().due(), kNow + 2s);
    EXPECT_EQ(reports_of(end(), kNow + 2s).size(), 1U);
}

TEST_F(PublisherEndTest, AReportMayStandBetweenThePartsOfASnapshot) {
    link();
    b_end->on_message(SnapshotBegin{1, 0, 0, a.state.publisher.own().descriptor(), 1000}, kNow);
    b_end->on_message(Report{*bytes_of_report(5)}, kNow + 1s);
    EXPECT_FALSE(b_end->over(kNow + 1s));
    EXPECT_EQ(b.feeds.last_report(0).bytes, *bytes_of_report(5));
}

TEST_F(PublisherEndTest, ALeavingNodeSendsNoReport) {
    link();
    a.state.report = {1, bytes_of_report(1)};
    end().say_goodbye();
    EXPECT_TRUE(reports_of(end(), kNow + 10s).empty());
}

TEST_F(PublisherEndTest, TellsOfRenewalsWithTheirAge) {
    link();
    summary::PeerSet peers;
    peers.insert(0);
    end().tell({{1, 2}, 3, 4, 5, 1000}, kNow, peers);
    ASSERT_LE(end().due(), kNow);
    EXPECT_EQ(says<Renewals>(end(), kNow + 250ms), (Renewals{0, {{{1, 2}, 3, 4, 5, 1250}}}));
    EXPECT_GT(end().due(), kNow + 250ms);
    b_end->on_message(Renewals{7, {{{1, 2}, 3, 4, 5, 1250}}}, kNow + 1s);
    EXPECT_FALSE(b_end->over(kNow + 1s));
    EXPECT_EQ(b.renewed, (std::vector<Renewal>{{{1, 2}, 3, 4, 5, 1250}}));
}

TEST_F(PublisherEndTest, TellsNobodyElseAndNoPeerOfAnEarlierVersion) {
    link();
    end().tell({{1, 2}}, kNow, {});
    EXPECT_GT(end().due(), kNow);
    summary::PeerSet peers;
    peers.insert(0);
    end().on_message(Heartbeat{0, 0, kListensElsewhere, 1s, kTakesReports}, kNow);
    end().tell({{1, 2}}, kNow, peers);
    EXPECT_GT(end().due(), kNow);
}

TEST_F(PublisherEndTest, AnInvalidationEndsTheRenewalsThatWait) {
    link();
    summary::PeerSet peers;
    peers.insert(0);
    for (std::size_t i = 0; i <= kMaxRenewalsAtOnce; ++i) end().tell({{i, 2}}, kNow, peers);
    a.invalidate(7);
    says<Invalidate>(end());
    EXPECT_GT(end().due(), kNow);
    for (std::size_t i = 0; i <= kMaxRenewalsAtOnce; ++i) end().tell({{i, 2}}, kNow, peers);
    EXPECT_EQ(says<Renewals>(end()).list.size(), kMaxRenewalsAtOnce);
}

TEST_F(PublisherEndTest, SilenceIsTheEndUnlessThePeerIsHeardElsewhereOrHasPromisedLess) {
    link();
    const auto gone_after = a.state.config.timings.gone_after;
    EXPECT_FALSE(end().over(kNow + gone_after - 1ns));
    EXPECT_EQ(over(end(), kNow + gone_after), Error::peer_silent);
    a.state.pulse(0).heard_at = kNow + 1s;
    EXPECT_FALSE(end().over(kNow + gone_after));
    EXPECT_EQ(over(end(), kNow + 1s + gone_after), Error::peer_silent);
    end().on_message(Heartbeat{0, 0, kListensElsewhere, 10s}, kNow + 2s);
    EXPECT_TRUE(a.state.pulse(0).listens_elsewhere);
    const auto limit = kNow + 2s + a.state.silence_limit(0);
    EXPECT_GT(limit, kNow + 2s + 10s);
    EXPECT_FALSE(end().over(limit - 1ns));
    EXPECT_EQ(over(end(), limit), Error::peer_silent);
}

TEST_F(PublisherEndTest, InvalidationsGoAheadOfEverythingEvenInTheMiddleOfASnapshot) {
    const auto challenge = challenge_of_b();
    end().on_hello(HelloMessage(challenge), kNow);
    pass(end(), *b_end, kNow);
    pass(*b_end, end(), kNow);
    a.invalidate(7);
    EXPECT_EQ(says<Invalidate>(end()).last, 1U) << "before the snapshot";
    says<SnapshotBegin>(end());
    a.invalidate(8);
    EXPECT_EQ(says<Invalidate>(end()).last, 2U) << "in the middle of it";
    says<SnapshotPart>(end());
    says<Heartbeat>(end());
    EXPECT_FALSE(end().next(kNow));
}

TEST_F(PublisherEndTest, APeerThatWasAwayCountsOnlyAfterItHasConfirmedTheInvalidations) {
    a.invalidate(7);
    const auto challenge = challenge_of_b();
    end().on_hello(HelloMessage(challenge), kNow);
    pass(end(), *b_end, kNow);
    pass(*b_end, end(), kNow);
    EXPECT_TRUE(a.state.neighbours.lagging(0));
    exchange(end(), *b_end);
    EXPECT_FALSE(a.state.neighbours.lagging(0));
    EXPECT_EQ(publishing.owner.confirmations, 1);
    EXPECT_EQ(a.state.invalidations.pending(0), 0U);
}

TEST_F(PublisherEndTest, ToConfirmWhatWasNeverSaidEndsIt) {
    link();
    end().on_message(Confirm{1}, kNow);
    EXPECT_EQ(over(end()), Error::unexpected_frame);
    EXPECT_EQ(publishing.owner.confirmations, 0);
}

TEST_F(PublisherEndTest, AMessageThatOnlyAPublisherMaySendEndsIt) {
    for (const Message& message : {Message(Delta{}), Message(Goodbye{}), Message(Welcome{})}) {
        Publishing each(a);
        auto other = subscribing(b);
        exchange(*each.end, *other);
        ASSERT_TRUE(each.end->up());
        each.end->on_message(message, kNow);
        EXPECT_EQ(over(*each.end), Error::unexpected_frame);
    }
}

TEST_F(PublisherEndTest, BeatsWhenItIsDueAndSendsASnapshotAgainWhenItIsAsked) {
    link();
    const auto due = end().due();
    EXPECT_GT(due, kNow);
    EXPECT_FALSE(end().next(due - 1ns));
    EXPECT_EQ(says<Heartbeat>(end(), due).epoch, a.state.publisher.own().epoch());
    end().on_message(SnapshotRequest{}, due);
    says<SnapshotBegin>(end(), due);
}

/// What a says after the welcome to a subscriber of the given first heartbeat.
class PublisherEndResuming : public PublisherEndTest {
protected:
    PublisherEndResuming() {
        for (std::uint64_t i = 0; i < 1000; ++i) store(i);
        for (std::uint64_t i = 1000; i < 1005; ++i) store(i);
    }
    void store(std::uint64_t i) {
        a.state.publisher.stored({i * 0x9e3779b97f4a7c15, i * 0xd1342543de82ef95}, kNow);
        if (i >= 999) a.state.publisher.announce(kNow);
    }
    std::uint64_t epoch() const { return a.state.publisher.own().epoch(); }
    std::uint64_t generation() const { return a.state.publisher.own().generation(); }
    void greet(const Heartbeat& first) {
        const auto challenge = challenge_of_b();
        end().on_hello(HelloMessage(challenge), kNow);
        b_end->on_hello(HelloMessage(says<Proof>(end())), kNow);
        end().on_message(says<Welcome>(*b_end), kNow);
        end().on_message(first, kNow);
    }
    Heartbeat holding(std::uint64_t of_epoch, std::uint64_t of_generation,
                      std::uint8_t features = kResumes) const {
        return {of_epoch, of_generation, kListensElsewhere, 1s, features};
    }
};

TEST_F(PublisherEndResuming, ASubscriberGetsTheDeltasThatItMissed) {
    greet(holding(epoch(), generation() - 2));
    EXPECT_EQ(says<Delta>(end()).generation, generation() - 1);
    EXPECT_EQ(says<Delta>(end()).generation, generation());
    EXPECT_EQ(says<Heartbeat>(end()).generation, generation());
    EXPECT_FALSE(end().next(kNow));
    EXPECT_EQ(end().counters().snapshots_sent, 0U);
    EXPECT_EQ(end().counters().resumed, 1U);
    store(2000);
    EXPECT_FALSE(end().next(kNow)) << "the test has yet to offer it";
}

TEST_F(PublisherEndResuming, ASubscriberThatMissedNothingGetsAHeartbeat) {
    greet(holding(epoch(), generation()));
    EXPECT_EQ(says<Heartbeat>(end()).generation, generation());
    EXPECT_FALSE(end().next(kNow));
}

TEST_F(PublisherEndResuming, AChangeBetweenTheWelcomeAndTheHeartbeatIsAmongThem) {
    const auto held = generation();
    const auto challenge = challenge_of_b();
    end().on_hello(HelloMessage(challenge), kNow);
    b_end->on_hello(HelloMessage(says<Proof>(end())), kNow);
    end().on_message(says<Welcome>(*b_end), kNow);
    a.state.publisher.stored({1, 2}, kNow);
    end().offer(*a.state.publisher.announce(kNow + 10s));
    EXPECT_FALSE(end().next(kNow));
    end().on_message(holding(epoch(), held), kNow);
    EXPECT_EQ(says<Delta>(end()).generation, held + 1);
    says<Heartbeat>(end());
}

TEST_F(PublisherEndResuming, AnyOtherStatementCostsASnapshot) {
    const auto expect_snapshot = [this](const Heartbeat& first) {
        publishing.end.emplace(a.state, publishing.owner, publishing.kept, "b", counting<Nonce>(1),
                               kNow);
        greet(first);
        EXPECT_EQ(says<SnapshotBegin>(end()).generation, generation());
        EXPECT_EQ(end().counters().resumed, 0U);
    };
    expect_snapshot(holding(0, 0));
    expect_snapshot(holding(epoch(), 0));
    expect_snapshot(holding(epoch(), generation() + 1));
    expect_snapshot(holding(epoch() - 1, generation()));
    expect_snapshot(holding(epoch() + 1, generation()));
    expect_snapshot(holding(epoch(), generation(), kTakesReports));  // an earlier build
}

TEST_F(PublisherEndResuming, OnlyTheFirstHeartbeatIsAStatement) {
    greet(holding(0, 0));
    says<SnapshotBegin>(end());
    end().on_message(holding(epoch(), generation()), kNow);
    says<SnapshotPart>(end());
}

TEST_F(PublisherEndResuming, ARequestBeforeAnyHeartbeatBringsASnapshot) {
    const auto challenge = challenge_of_b();
    end().on_hello(HelloMessage(challenge), kNow);
    b_end->on_hello(HelloMessage(says<Proof>(end())), kNow);
    end().on_message(says<Welcome>(*b_end), kNow);
    end().on_message(SnapshotRequest{}, kNow);
    says<SnapshotBegin>(end());
}

TEST_F(PublisherEndTest, TheGoodbyeWaitsUntilAllInvalidationsAreConfirmed) {
    link();
    a.invalidate(7);
    end().say_goodbye();
    EXPECT_LE(end().due(), kNow) << "whoever moves the bytes is to ask for it";
    const auto order = says<Invalidate>(end());
    EXPECT_FALSE(end().next(kNow + 1h));
    EXPECT_EQ(end().due(), TimePoint::max());
    EXPECT_FALSE(end().finished());
    end().on_message(Confirm{order.last}, kNow);
    says<Goodbye>(end());
    EXPECT_TRUE(end().finished());
    EXPECT_FALSE(end().next(kNow + 1h));
}

TEST_F(PublisherEndTest, ClosedItSaysAndHearsNothingMoreAndTheFirstReasonCounts) {
    struct Driver final : LinkEnd::Driver {
        void woken() override { ++wakes; }
        int wakes = 0;
    } driver;
    link();
    end().set_driver(&driver);
    a.invalidate(7);
    end().close(make_error_code(Error::restarted));
    end().close(make_error_code(Error::no_peer_any_more));
    EXPECT_GT(driver.wakes, 0);
    EXPECT_EQ(over(end()), Error::restarted);
    EXPECT_FALSE(end().next(kNow));
    EXPECT_EQ(end().due(), TimePoint::max());
    end().on_message(Confirm{1}, kNow);
    EXPECT_EQ(publishing.owner.confirmations, 0);
}

TEST_F(PublisherEndTest, ItsCountersStayAfterTheLink) {
    link();
    EXPECT_EQ(end().counters().snapshots_sent, 1U);
    a.state.pulse(0).listens_elsewhere = true;
    end().leave();
    EXPECT_FALSE(end().up());
    EXPECT_EQ(publishing.kept.counters.snapshots_sent, 1U);
    EXPECT_EQ(end().counters().snapshots_sent, 1U) << "counted once";
    EXPECT_FALSE(a.state.pulse(0).listens_elsewhere) << "the link on which it said so is gone";
}

}  // namespace publisher_end_test
}  // namespace protocol::test
