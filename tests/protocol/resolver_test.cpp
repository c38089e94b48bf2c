#include "protocol/resolver.hpp"

#include <gtest/gtest.h>

#include <list>
#include <memory>
#include <string>

#include "protocol/task_group.hpp"
#include "tests/protocol/coroutine.hpp"

namespace protocol::test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using Endpoints = Resolver::Endpoints;

const auto kPast = Clock::time_point{};
const auto kFarAway = Clock::time_point::max();

/// A label of more than 63 bytes: no name server need be asked to know that there is no such name.
std::string impossible(int number) {
    return std::string(80, 'x') + std::to_string(number);
}

class ResolverTest : public ::testing::Test {
protected:
    Result<Endpoints> resolve(const std::string& host, const std::string& port = "3129",
                              Clock::time_point deadline = kFarAway) {
        return run(io, resolver->resolve(host, port, deadline));
    }
    static std::string text(const Result<Endpoints>& result) {
        if (!result) return std::string(result.error().message());
        return result->front().address().to_string() + ' ' + std::to_string(result->front().port());
    }

    /// The deadline is past, yet a lookup on its thread may win the race to the loop; not always.
    bool some_ask_comes_too_late(Clock::duration keep) {
        for (int i = 0; i < 50; ++i) {
            resolver = std::make_unique<Resolver>(io.get_executor(), keep);
            const auto answer = resolve("localhost", "1", kPast);
            if (!answer) return answer.error() == Error::resolve_timeout;
        }
        return false;
    }

    asio::io_context io;
    std::unique_ptr<Resolver> resolver = std::make_unique<Resolver>(io.get_executor());
};

TEST_F(ResolverTest, LiteralAddressesAnswerAtOnce) {
    EXPECT_EQ(text(resolve("127.0.0.1", "80", kPast)), "127.0.0.1 80");
    EXPECT_EQ(text(resolve("::1", "65535", kPast)), "::1 65535");
    EXPECT_EQ(text(resolve("[::1]", "0", kPast)), "::1 0");
}

TEST_F(ResolverTest, APortIsANumberThatFits) {
    for (const auto* port : {"", "http", "65536", "-1", "80 ", " 80", "0x50"}) {
        EXPECT_EQ(resolve("127.0.0.1", port).error(), Error::resolve_failed) << port;
    }
}

TEST_F(ResolverTest, NamesAreLookedUp) {
    const auto found = resolve("localhost");
    ASSERT_TRUE(found);
    for (const auto& endpoint : *found) {
        EXPECT_TRUE(endpoint.address().is_loopback());
        EXPECT_EQ(endpoint.port(), 3129);
    }
}

TEST_F(ResolverTest, ANameWithoutAnAddressFails) {
    EXPECT_EQ(resolve(impossible(0)).error(), Error::resolve_failed);
    EXPECT_EQ(resolve("").error(), Error::resolve_failed);
}

TEST_F(ResolverTest, WhoCannotWaitLeavesAndTheAnswerIsKeptForTheNext) {
    ASSERT_TRUE(some_ask_comes_too_late(5s));
    ASSERT_TRUE(resolve("localhost", "2"));
    EXPECT_TRUE(resolve("localhost", "3", kPast));  // no wait needed
}

TEST_F(ResolverTest, BadNewsIsKeptToo) {
    ASSERT_EQ(resolve(impossible(0)).error(), Error::resolve_failed);
    EXPECT_EQ(resolve(impossible(0), "1", kPast).error(), Error::resolve_failed);
}

TEST_F(ResolverTest, AnAnswerThatIsNotKeptIsLookedUpAnew) {
    EXPECT_TRUE(some_ask_comes_too_late(0s));
    ASSERT_TRUE(resolve("localhost"));
    int late = 0;
    for (int i = 0; i < 50; ++i) late += resolve("localhost", "1", kPast) ? 0 : 1;
    EXPECT_GT(late, 0);
}

TEST_F(ResolverTest, AllWhoAskForOneNameGetTheAnswer) {
    std::list<Pending<Result<Endpoints>>> answers(300);  // more than may be looked up at once
    for (auto& answer : answers) {
        start(io, resolver->resolve("localhost", "1", kFarAway), answer);
    }
    io.run();
    for (const auto& answer : answers) EXPECT_TRUE(answer.value && *answer.value);
}

TEST_F(ResolverTest, TooManyNamesAtOnceAreRefused) {
    std::list<Pending<Result<Endpoints>>> answers(kMaxNamesInFlight + 1);
    int number = 0;
    for (auto& answer : answers) {
        start(io, resolver->resolve(impossible(number++), "1", kFarAway), answer);
    }
    io.run();
    EXPECT_EQ(answers.back().value->error(), Error::resolver_busy);
    answers.pop_back();
    for (const auto& answer : answers) EXPECT_EQ(answer.value->error(), Error::resolve_failed);
    EXPECT_TRUE(resolve("localhost"));  // busy no longer
}

TEST_F(ResolverTest, TheNamesItRemembersAreLimited) {
    // Only that it goes on working is visible from here.
    for (int first = 0; first < 1200; first += 200) {
        std::list<Pending<Result<Endpoints>>> answers(200);
        int number = first;
        for (auto& answer : answers) {
            start(io, resolver->resolve(impossible(number++), "1", kFarAway), answer);
        }
        io.restart();
        io.run();
        for (const auto& answer : answers) EXPECT_EQ(answer.value->error(), Error::resolve_failed);
    }
}

TEST_F(ResolverTest, ACancelledWaiterLeaves) {
    auto wait = [](Resolver& from, bool& ended) -> awaitable<void> {
        const auto answer = co_await from.resolve("localhost", "1", kFarAway);
        ended = !answer;
    };
    bool ended = false;
    TaskGroup tasks(io.get_executor());
    tasks.spawn(wait(*resolver, ended));
    auto stop = [](TaskGroup& group) -> awaitable<int> {
        group.cancel();
        co_return 0;
    };
    run(io, stop(tasks));
    EXPECT_TRUE(ended);
    EXPECT_TRUE(resolve("localhost"));
}

TEST_F(ResolverTest, MayGoWhileALookupIsUnderWay) {
    Pending<Result<Endpoints>> answer;
    start(io, resolver->resolve("localhost", "1", Clock::now() + 20ms), answer);
    io.poll_one();
    resolver.reset();
    io.run();
    ASSERT_TRUE(answer.value);
    EXPECT_TRUE(*answer.value || answer.value->error() == Error::resolve_timeout);
}

}  // namespace
}  // namespace protocol::test
