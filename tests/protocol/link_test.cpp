#include "protocol/link.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "tests/protocol/bytes.hpp"
#include "tests/protocol/coroutine.hpp"

namespace protocol::test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio::ip::tcp;

/// Says what it is told to and notes what it hears.
struct ScriptedEnd : LinkEnd {
    Result<void> on_message(const Message& message, Clock::time_point) override {
        ++heard;
        if (std::holds_alternative<Goodbye>(message)) return make_error_code(Error::goodbye);
        return {};
    }
    std::optional<Message> next(Clock::time_point) override {
        if (to_say.empty()) return std::nullopt;
        const auto message = to_say.front();
        to_say.pop_front();
        return message;
    }
    Clock::time_point due() const override { return Clock::time_point::max(); }
    Clock::time_point heard_elsewhere() const override { return elsewhere; }
    Clock::duration silence_limit(Clock::duration gone_after) const override {
        return std::max(gone_after, silence);
    }
    bool finished() const override { return leaving && to_say.empty(); }

    Clock::time_point elsewhere = Clock::time_point::min();
    Clock::duration silence{0};
    std::deque<Message> to_say;
    bool leaving = false;
    int heard = 0;
};

/// A link under test, and a plain socket at its other end.
class LinkTest : public ::testing::Test {
protected:
    LinkTest() { connect(); }

    void connect() {
        tcp::acceptor acceptor(io, {asio::ip::make_address("127.0.0.1"), 0});
        other.emplace(io);
        other->connect(acceptor.local_endpoint());
        link = std::make_unique<Link>(acceptor.accept(), traffic);
        link->secure(counting<LinkKey>(1), counting<LinkKey>(2));
        to_link.emplace(counting<LinkKey>(2));
        from_link.emplace(counting<LinkKey>(1));
        end = ScriptedEnd();
        ended = {};
    }
    void say(const Message& message) {
        asio::write(*other, asio::buffer(sealed(*to_link, message)));
    }

    void begin(Clock::duration gone_after = 10s) {
        auto run_link = [](Link& of, ScriptedEnd& with,
                           Clock::duration after) -> awaitable<boost::system::error_code> {
            co_return co_await of.run(with, after);
        };
        start(io, run_link(*link, end, gone_after), ended);
    }
    /// Runs until the link has ended, and says why.
    boost::system::error_code reason() {
        io.restart();
        io.run_for(5s);
        return ended.value.value_or(asio::error::timed_out);
    }
    void turn() {
        io.restart();
        io.poll();
    }

    asio::io_context io;
    Traffic traffic;
    std::optional<tcp::socket> other;
    std::unique_ptr<Link> link;
    std::optional<Sealer> to_link;
    std::optional<Opener> from_link;
    ScriptedEnd end;
    Pending<boost::system::error_code> ended;
};

TEST_F(LinkTest, WhatItsEndHasToSayGoesOutAsFramesOfTheLink) {
    end.to_say = {Heartbeat{1, 2, 3}, Goodbye{}};
    end.leaving = true;
    begin();
    turn();
    Bytes got(1000);
    boost::system::error_code error;
    got.resize(asio::read(*other, asio::buffer(got), error));
    EXPECT_EQ(error, asio::error::eof);
    EXPECT_FALSE(ended.value) << "nobody has read the goodbye";
    other->close();
    EXPECT_EQ(reason(), Error::goodbye);
    EXPECT_EQ(traffic.bytes_sent, got.size());
    FrameBuffer buffer;
    const auto room = buffer.prepare();
    std::copy(got.begin(), got.end(), room.begin());
    buffer.commit(got.size());
    const auto first = from_link->open(**buffer.next(kMaxFrameBytes));
    const auto second = from_link->open(**buffer.next(kMaxFrameBytes));
    EXPECT_EQ(first.value(), Message(Heartbeat{1, 2, 3}));
    EXPECT_EQ(second.value(), Message(Goodbye{}));
}

TEST_F(LinkTest, WokenItSpeaksBeforeItIsDue) {
    begin();
    turn();
    end.to_say = {Heartbeat{1, 2, 3}};
    turn();
    EXPECT_EQ(other->available(), 0U);
    link->wake();
    turn();
    EXPECT_GT(other->available(), 0U);
}

TEST_F(LinkTest, EndsWithWhatItsEndMakesOfAMessage) {
    begin();
    say(Heartbeat{});
    say(Goodbye{});
    EXPECT_EQ(reason(), Error::goodbye);
    EXPECT_EQ(end.heard, 2);
    EXPECT_GT(traffic.bytes_received, 0U);
}

TEST_F(LinkTest, SilenceEndsIt) {
    begin(20ms);
    EXPECT_EQ(reason(), Error::peer_silent);
}

TEST_F(LinkTest, WhoIsHeardElsewhereIsNotSilent) {
    end.elsewhere = Clock::now() + 1h;
    begin(20ms);
    io.restart();
    io.run_for(100ms);
    EXPECT_FALSE(ended.value);
    end.elsewhere = Clock::now() - 20ms;
    link->wake();
    EXPECT_EQ(reason(), Error::peer_silent);
}

TEST_F(LinkTest, WhoHasPromisedToSpeakLaterIsNotSilent) {
    end.silence = 1h;
    begin(20ms);
    io.restart();
    io.run_for(100ms);
    EXPECT_FALSE(ended.value);
    end.silence = 20ms;
    link->wake();
    EXPECT_EQ(reason(), Error::peer_silent);
}

TEST_F(LinkTest, BytesThatMakeNoFrameAreSilence) {
    begin(20ms);
    asio::write(*other, asio::buffer(unhex("00000040 0112")));
    EXPECT_EQ(reason(), Error::peer_silent);
}

TEST_F(LinkTest, AFullSocketEndsIt) {
    const Bytes part(kSnapshotPartBytes);
    for (int i = 0; i < 400; ++i) end.to_say.push_back(SnapshotPart{part});
    begin(100ms);
    for (int i = 0; i < 20 && !ended.value; ++i) {  // it hears enough, and is not heard
        say(Heartbeat{});
        io.restart();
        io.run_for(20ms);
    }
    EXPECT_EQ(reason(), Error::peer_not_reading);
}

TEST_F(LinkTest, TheOtherEndMayCloseIt) {
    begin();
    other->close();
    EXPECT_EQ(reason(), Error::connection_closed);
}

TEST_F(LinkTest, ClosedItSaysWhyAndOnlyTheFirstReasonCounts) {
    begin();
    turn();
    link->close(Error::superseded);
    link->close(Error::restarted);
    EXPECT_EQ(reason(), Error::superseded);
}

TEST_F(LinkTest, ClosedBeforeItRunsItDoesNotRun) {
    end.to_say = {Heartbeat{}};
    link->close(Error::superseded);
    begin();
    EXPECT_EQ(reason(), Error::superseded);
    EXPECT_EQ(end.to_say.size(), 1U);
}

TEST_F(LinkTest, ClosedItHearsNothingMoreHoweverFarTheFrameHadCome) {
    // Between the arrival of bytes and their way through the loop to the reader lie some handlers;
    // the close comes at each place among them.
    int heard_before_close = 0;
    for (int handlers = 0; handlers < 40; ++handlers) {
        connect();
        begin();
        turn();
        say(Heartbeat{});
        io.restart();
        for (int i = 0; i < handlers; ++i) io.poll_one();
        const auto heard = end.heard;
        heard_before_close += heard;
        link->close(Error::superseded);
        EXPECT_EQ(reason(), Error::superseded);
        EXPECT_EQ(end.heard, heard) << "closed after " << handlers << " handlers";
    }
    EXPECT_GT(heard_before_close, 0);  // the last ones came too late
    EXPECT_LT(heard_before_close, 40);
}

TEST_F(LinkTest, HelloMessagesHaveADeadline) {
    auto read = [](Link& from) -> awaitable<Result<HelloMessage>> {
        co_return co_await from.read_hello(Clock::now() + 5ms);
    };
    EXPECT_EQ(run(io, read(*link)).error(), Error::hello_timeout);
}

TEST_F(LinkTest, AHelloFrameHasALowerLimit) {
    auto read = [](Link& from) -> awaitable<Result<HelloMessage>> {
        co_return co_await from.read_hello(Clock::now() + 5s);
    };
    asio::write(*other, asio::buffer(unhex("00000201")));
    EXPECT_EQ(run(io, read(*link)).error(), Error::frame_too_large);
}

TEST_F(LinkTest, InsteadOfTheWelcomeARefusalMayCome) {
    auto read = [](Link& from) -> awaitable<Result<void>> {
        co_return co_await from.read_welcome(Clock::now() + 5s);
    };
    asio::write(*other, asio::buffer(sealed(Refusal{Error::duplicate_id})));
    EXPECT_EQ(run(io, read(*link)).error(), Error::duplicate_id);
    connect();
    say(Heartbeat{});
    EXPECT_EQ(run(io, read(*link)).error(), Error::unexpected_frame);
    connect();
    say(Welcome{});
    EXPECT_TRUE(run(io, read(*link)));
}

}  // namespace
}  // namespace protocol::test
