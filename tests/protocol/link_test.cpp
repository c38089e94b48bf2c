#include "protocol/links/link.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tests/base/coroutine.hpp"
#include "tests/protocol/bytes.hpp"

namespace protocol::test {
namespace link_test {

using base::test::Pending;
using base::test::start;

using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio::ip::tcp;

/// Sends the messages it is given and notes those it receives.
struct ScriptedEnd : LinkEnd {
    void on_hello(const base::Result<HelloMessage>& message, TimePoint) override {
        ++hellos;
        if (!message) end(message.error());
        if (message && std::holds_alternative<Refusal>(*message))
            end(make_error_code(std::get<Refusal>(*message).reason));
    }
    void on_message(const Message& message, TimePoint) override {
        ++heard;
        if (std::holds_alternative<Goodbye>(message)) end(make_error_code(Error::goodbye));
    }
    std::optional<Said> next(TimePoint) override {
        if (to_say.empty()) return std::nullopt;
        auto message = to_say.front();
        to_say.pop_front();
        return message;
    }
    TimePoint due() const override {
        return ended() && !to_say.empty() ? TimePoint::min() : TimePoint::max();
    }
    Limit limit() const override { return until; }
    bool finished() const override { return leaving && to_say.empty(); }
    LinkCounters& traffic() override { return counted; }
    void heard_in_hello(TimePoint) override { ++bytes_of_hello; }

    void know_the_keys() { secure(counting<LinkKey>(1), counting<LinkKey>(2)); }
    void greet() { welcomed(); }
    void refuse(Error why) {
        to_say.push_back(HelloMessage(Refusal{why}));
        end(make_error_code(why));
        wake();
    }

    Limit until{TimePoint::max(), Error::peer_silent};
    std::deque<Said> to_say;
    bool leaving = false;
    int heard = 0, hellos = 0, bytes_of_hello = 0;
    LinkCounters counted;
};

/// A link under test, and a plain socket at its other end.
class LinkTest : public ::testing::Test {
protected:
    LinkTest() { connect(); }

    void connect() {
        tcp::acceptor acceptor(io, {asio::ip::make_address("127.0.0.1"), 0});
        other.emplace(io);
        other->connect(acceptor.local_endpoint());
        link.reset(new Link(Link::accepted(acceptor.accept(), nullptr)));
        to_link.emplace(counting<LinkKey>(2));
        from_link.emplace(counting<LinkKey>(1));
        end.emplace();
        end->know_the_keys();
        end->greet();
        ended = {};
    }
    void say(const Message& message) {
        asio::write(*other, asio::buffer(sealed(*to_link, message)));
    }

    void begin(base::Clock::duration gone_after = 10s) {
        auto run_link =
            [](Link& of, ScriptedEnd& with,
               base::Clock::duration after) -> base::awaitable<boost::system::error_code> {
            std::function<void()> nothing = [] {};
            co_return co_await of.run(with, after, std::move(nothing));
        };
        start(io, run_link(*link, *end, gone_after), ended);
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
    std::optional<ScriptedEnd> end;
    std::optional<tcp::socket> other;
    std::unique_ptr<Link> link;
    std::optional<Sealer> to_link;
    std::optional<Opener> from_link;
    Pending<boost::system::error_code> ended;
};

TEST_F(LinkTest, SendsTheMessagesOfItsEndAsFrames) {
    end->to_say = {Heartbeat{1, 2, 3}, Goodbye{}};
    end->leaving = true;
    begin();
    turn();
    Bytes got(1000);
    boost::system::error_code error;
    got.resize(asio::read(*other, asio::buffer(got), error));
    EXPECT_EQ(error, asio::error::eof);
    EXPECT_FALSE(ended.value) << "nobody has read the goodbye";
    other->close();
    EXPECT_EQ(reason(), Error::goodbye);
    EXPECT_EQ(end->counted.bytes_sent, got.size());
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
    end->to_say = {Heartbeat{1, 2, 3}};
    turn();
    EXPECT_EQ(other->available(), 0U);
    end->wake();
    turn();
    EXPECT_GT(other->available(), 0U);
}

TEST_F(LinkTest, EndsWithWhatItsEndMakesOfAMessage) {
    begin();
    say(Heartbeat{});
    say(Goodbye{});
    EXPECT_EQ(reason(), Error::goodbye);
    EXPECT_EQ(end->heard, 2);
    EXPECT_GT(end->counted.bytes_received, 0U);
}

TEST_F(LinkTest, WhenItsEndSaysSoItIsOver) {
    end->until = {base::Clock::now() + 20ms, Error::hello_timeout};
    begin();
    EXPECT_EQ(reason(), Error::hello_timeout);
}

TEST_F(LinkTest, ItsEndMayChangeItsMindUntilThen) {
    end->until = {base::Clock::now() + 20ms, Error::peer_silent};
    begin();
    end->until.at = base::Clock::now() + 1h;
    io.restart();
    io.run_for(100ms);
    EXPECT_FALSE(ended.value);
    end->until.at = base::Clock::now();
    end->wake();
    EXPECT_EQ(reason(), Error::peer_silent);
}

TEST_F(LinkTest, BytesThatMakeNoFrameAreSilence) {
    end->until = {base::Clock::now() + 20ms, Error::peer_silent};
    begin();
    asio::write(*other, asio::buffer(unhex("00000040 0112")));
    EXPECT_EQ(reason(), Error::peer_silent);
    EXPECT_EQ(end->heard, 0);
}

TEST_F(LinkTest, AFullSocketEndsIt) {
    const Bytes part(kSnapshotPartBytes);
    for (int i = 0; i < 400; ++i) end->to_say.push_back(SnapshotPart{part});
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
    end->close(make_error_code(Error::superseded));
    end->close(make_error_code(Error::restarted));
    EXPECT_EQ(reason(), Error::superseded);
}

TEST_F(LinkTest, ClosedBeforeItRunsItDoesNotRun) {
    end->to_say = {Heartbeat{}};
    end->close(make_error_code(Error::superseded));
    begin();
    EXPECT_EQ(reason(), Error::superseded);
    EXPECT_EQ(end->to_say.size(), 1U);
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
        const auto heard = end->heard;
        heard_before_close += heard;
        end->close(make_error_code(Error::superseded));
        EXPECT_EQ(reason(), Error::superseded);
        EXPECT_EQ(end->heard, heard) << "closed after " << handlers << " handlers";
    }
    EXPECT_GT(heard_before_close, 0);  // the last ones came too late
    EXPECT_LT(heard_before_close, 40);
}

TEST_F(LinkTest, AHelloFrameHasALowerLimit) {
    end.emplace();
    begin();
    asio::write(*other, asio::buffer(unhex("00000201")));
    EXPECT_EQ(reason(), Error::frame_too_large);
}

TEST_F(LinkTest, TellsItsEndOfBytesOfTheHelloAlone) {
    end.emplace();
    begin();
    const auto proof = sealed(Proof{});
    asio::write(*other, asio::buffer(proof, 5));
    turn();
    EXPECT_EQ(end->bytes_of_hello, 1);
    asio::write(*other, asio::buffer(proof) + 5);
    turn();
    EXPECT_EQ(end->bytes_of_hello, 2);
    EXPECT_EQ(end->hellos, 1);
    end->know_the_keys();
    end->greet();
    say(Heartbeat{});
    turn();
    EXPECT_EQ(end->bytes_of_hello, 2);
}

TEST_F(LinkTest, UntilItsEndKnowsTheKeysMessagesAreThoseOfTheHello) {
    end.emplace();
    begin();
    asio::write(*other, asio::buffer(sealed(Proof{})));
    turn();
    EXPECT_EQ(end->hellos, 1);
    asio::write(*other, asio::buffer(unhex("00000002 0301")));  // a hello without its fields
    EXPECT_EQ(reason(), Error::malformed_frame);
    EXPECT_EQ(end->hellos, 2) << "the error is reported to its end";
}

TEST_F(LinkTest, InsteadOfTheWelcomeARefusalMayCome) {
    end.emplace();
    end->know_the_keys();
    begin();
    asio::write(*other, asio::buffer(sealed(Refusal{Error::duplicate_id})));
    EXPECT_EQ(reason(), Error::duplicate_id);
    connect();
    begin();
    asio::write(*other, asio::buffer(sealed(Refusal{Error::duplicate_id})));
    EXPECT_EQ(reason(), Error::frame_too_short) << "it has been welcomed: all must be tagged";
}

TEST_F(LinkTest, ARefusalGoesOutBeforeTheEnd) {
    end.emplace();
    begin();
    turn();
    end->refuse(Error::wrong_key);
    EXPECT_EQ(reason(), Error::wrong_key);
    const auto expected = sealed(Refusal{Error::wrong_key});
    Bytes got(expected.size());
    asio::read(*other, asio::buffer(got));
    EXPECT_EQ(got, expected);
}

TEST_F(LinkTest, ItsEndMayOutliveItInTheMiddle) {
    begin();
    turn();
    link.reset();
    end->wake();  // notifies nobody
    EXPECT_FALSE(end->ended());
}

}  // namespace link_test
}  // namespace protocol::test
