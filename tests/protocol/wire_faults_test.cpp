// Faults of networks and broken peers on a connection, seen from healthy nodes.

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include <deque>

#include "protocol/membership/hello_backlog.hpp"
#include "protocol/wire/frame.hpp"
#include "tests/protocol/cluster_fixture.hpp"
#include "tests/protocol/relay.hpp"

namespace protocol::test {
namespace wire_faults_test {

namespace asio = boost::asio;

/// Faults in the frames, which a relay can read in the clear only.
class WireFaults : public ClusterTest {
protected:
    WireFaults() { encrypt_ = false; }

    /// a publishes to b through a relay; b publishes to a directly.
    void with_relay() { with_relay(config("a")); }
    void with_relay(PeeringConfig dialler) {
        relay = std::make_unique<Relay>(helpers_, address(200), address_of("b"));
        dialler.peers[0].link.host = address(200);
        a = &add(dialler);
        b = &add(config("b"));
        a->store("before");
        ASSERT_TRUE(run_until([&] { return all_in_sync() && b->sees("a", "before"); }));
    }

    /// One frame of a given type on its way from a to b comes out as `mangle` says; b ends the link
    /// for `reason`, and then all is well again by itself.
    void expect_repaired(FrameType type, const std::string& reason, const Relay::Mangle& mangle) {
        const auto connects = a->status_of("b").connects;
        relay->from_dialler = [type, mangle, done = false](Bytes frame) mutable {
            if (done || type_of_frame(frame) != static_cast<std::uint8_t>(type)) {
                return Frames{std::move(frame)};
            }
            done = true;
            return mangle(std::move(frame));
        };
        if (type == FrameType::delta) {
            for (int i = 0; i < 50; ++i) a->store("mangled " + std::to_string(i));
        }
        ASSERT_TRUE(run_until([&] { return b->refusals(reason) == 1; })) << reason;
        EXPECT_TRUE(run_until([&] {
            return a->status_of("b").connects > connects && all_in_sync() &&
                   b->sees("a", "before") &&
                   (type != FrameType::delta || b->sees("a", "mangled 49"));
        }));
        EXPECT_TRUE(a->in_sync_with("b"));
    }

    /// Changes the stored keys of `node`: each time by enough for an announcement, and by so little
    /// of the whole that a delta suffices.
    void churn(TestNode& node) {
        const bool first = turns_ == 0;
        for (int i = 0; first && i < 500; ++i) node.store("stays " + std::to_string(i));
        const bool store = turns_++ % 2 == 0;
        for (int i = 0; i < 50; ++i) {
            const auto key = "comes and goes " + std::to_string(i);
            store ? node.store(key) : node.remove(key);
        }
    }

    std::unique_ptr<Relay> relay;
    TestNode* a = nullptr;
    TestNode* b = nullptr;

private:
    int turns_ = 0;
};

TEST_F(WireFaults, ACutFrameEndsTheLinkAndASnapshotRepairs) {
    with_relay();
    expect_repaired(FrameType::delta, "connection_closed", [&](Bytes frame) {
        frame.resize(frame.size() / 2);
        asio::post(helpers_, [&] { relay->cut(); });
        return Frames{frame};
    });
}

TEST_F(WireFaults, AConnectionLostOnOneSideIsReplacedByTheNext) {
    with_relay();
    relay->lose_diallers();
    // b believes the first link alive still, but another of the same instance is no other node.
    ASSERT_TRUE(run_until([&] { return b->refusals("superseded") == 1; }));
    a->store("after");
    EXPECT_TRUE(run_until([&] { return all_in_sync() && b->sees("a", "after"); }));
    EXPECT_TRUE(b->sees("a", "before"));
    EXPECT_EQ(b->refusals("duplicate_id"), 0U);
    EXPECT_EQ(b->status_of("a").last_end.reason(), "");
}

TEST_F(WireFaults, ALinkToAnEarlierInstanceIsGivenUpWhenTheNewOneIsHeardOf) {
    with_relay();
    a->restart();
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    relay->lose_listeners();
    b->restart();
    ASSERT_TRUE(run_until([&] { return a->refusals("restarted") == 1; }));
    a->store("after");
    EXPECT_TRUE(run_until([&] { return all_in_sync() && b->sees("a", "after"); }));
}

TEST_F(WireFaults, ARepeatedFrameEndsTheLinkAndASnapshotRepairs) {
    with_relay();
    expect_repaired(FrameType::delta, "bad_sequence", [](Bytes frame) {
        return Frames{frame, frame};
    });
}

TEST_F(WireFaults, ALostFrameEndsTheLinkAndASnapshotRepairs) {
    with_relay();
    expect_repaired(FrameType::delta, "bad_sequence", [](const Bytes&) { return Frames(); });
}

TEST_F(WireFaults, ACorruptedFrameEndsTheLinkWhereverTheBitIs) {
    with_relay();
    expect_repaired(FrameType::delta, "bad_tag",
                    [](Bytes frame) { return Frames{flipped(std::move(frame), 30)}; });
    expect_repaired(FrameType::heartbeat, "wrong_version",
                    [](Bytes frame) { return Frames{flipped(std::move(frame), 4)}; });
}

TEST_F(WireFaults, AFrameLargerThanItsLimitEndsTheLink) {
    with_relay();
    expect_repaired(FrameType::heartbeat, "frame_too_large", [](Bytes frame) {
        frame[0] = std::byte{0x7f};
        return Frames{frame};
    });
}

TEST_F(WireFaults, AFrameTooShortForItsFieldsEndsTheLink) {
    with_relay();
    expect_repaired(FrameType::heartbeat, "frame_too_short", [](Bytes frame) {
        frame[3] = std::byte{1};
        return Frames{frame};
    });
}

TEST_F(WireFaults, AnotherVersionIsAnsweredWithARefusalItCanRead) {
    a = &add(config("a"));
    Bytes hello;
    seal_hello(HelloMessage(Proof()), hello);
    hello[kLengthBytes] = std::byte{99};
    const auto answer = answer_to("a", hello);
    ASSERT_EQ(answer.size(), kLengthBytes + kHeadBytes + 1);
    const auto refusal = open_hello(base::ByteView(answer).subspan(kLengthBytes));
    ASSERT_TRUE(refusal);
    EXPECT_EQ(*refusal, HelloMessage(Refusal{Error::wrong_version}));
}

TEST_F(WireFaults, AConnectionThatSaysNothingIsClosedAtTheHelloDeadline) {
    auto settings = config("a");
    settings.timings.hello = 200ms;
    a = &add(std::move(settings));
    asio::ip::tcp::socket client(helpers_);
    client.connect({asio::ip::make_address(address_of("a")), 3129});
    EXPECT_TRUE(run_until([&] { return a->refusals("hello_timeout") == 1; }));
}

/// A connection to `node` from an address of its own.
asio::ip::tcp::socket knock(asio::io_context& io, const std::string& node,
                            const std::string& from) {
    asio::ip::tcp::socket socket(io, asio::ip::tcp::v4());
    socket.bind({asio::ip::make_address(from), 0});
    socket.connect({asio::ip::make_address(node), 3129});
    return socket;
}

TEST_F(WireFaults, ConnectionsWithoutAHelloAreLimited) {
    a = &add(config("a"));
    std::vector<asio::ip::tcp::socket> clients;
    for (std::size_t i = 0; i < kMaxAtOncePerAddress + 5; ++i) {
        clients.push_back(knock(helpers_, address_of("a"), address(100)));
    }
    EXPECT_TRUE(run_until([&] { return a->refusals("too_many_links") == 5; }));
    clients.clear();
    b = &add(config("b"));
    EXPECT_TRUE(run_until([&] { return all_in_sync(); }));
}

TEST_F(WireFaults, AFloodOfConnectionsFromManyAddressesKeepsNoPeerOut) {
    auto patient = config("a");
    patient.timings.hello = 60s;  // who came first stays, if nobody makes it go
    a = &add(patient);
    std::deque<asio::ip::tcp::socket> flood;
    unsigned number = 0;
    const auto one_more = [&] {
        const auto from = "127.200." + std::to_string(number / 100 % 100) + '.' +
                          std::to_string(1 + number % 100);
        ++number;
        flood.push_back(knock(helpers_, address_of("a"), from));
        if (flood.size() > 300) flood.pop_front();
    };
    for (int i = 0; i < 200; ++i) one_more();
    ASSERT_TRUE(run_until([&] { return a->refusals("too_many_links") > 100; }));
    b = &add(config("b"));
    auto next = std::chrono::steady_clock::now();
    EXPECT_TRUE(run_until([&] {
        // 1,000 a second, or as many as the machine can do beside the rest.
        for (int i = 0; i < 4 && next < std::chrono::steady_clock::now(); ++i, next += 1ms)
            one_more();
        return all_in_sync();
    }));
}

TEST_F(WireFaults, ASubscriberThatDoesNotReadDelaysNobodyAndCostsBoundedMemory) {
    relay = std::make_unique<Relay>(helpers_, address(200), address_of("b"));
    auto publisher = config("a", 3);
    publisher.peers[0].link.host = address(200);
    publisher.max_queued_bytes = 20000;
    a = &add(publisher);
    b = &add(config("b", 3));
    auto& c = add(config("c", 3));
    ASSERT_TRUE(run_until([&] { return all_in_sync(); }));
    const auto connects = a->status_of("b").connects;
    relay->deaf = true;
    ASSERT_TRUE(run_until([&] {
        churn(*a);
        return a->status_of("b").overflows > 0;
    }));
    a->store("last");
    EXPECT_TRUE(run_until([&] { return c.sees("a", "last"); }));
    EXPECT_FALSE(b->sees("a", "last"));
    relay->deaf = false;
    EXPECT_TRUE(run_until([&] { return b->in_sync_with("a") && b->sees("a", "last"); }));
    EXPECT_EQ(a->status_of("b").connects, connects);  // all that on one link
}

TEST_F(WireFaults, APeerThatTakesNothingMoreIsDropped) {
    auto publisher = config("a");
    publisher.timings.gone_after = 5s;  // the other end is heard meanwhile, however busy this is
    with_relay(publisher);
    relay->deaf = true;
    EXPECT_TRUE(run_until([&] {
        churn(*a);
        return a->refusals("peer_not_reading") > 0;
    }));
    EXPECT_TRUE(a->in_sync_with("b"));  // the other direction is another link
    relay->deaf = false;
    EXPECT_TRUE(run_until([&] { return all_in_sync() && b->sees("a", "before"); }));
}

}  // namespace wire_faults_test
}  // namespace protocol::test
