#include "protocol/resolver.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "protocol/task_group.hpp"
#include "tests/protocol/coroutine.hpp"

namespace protocol::test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using Endpoints = Resolver::Endpoints;

const auto kPast = Clock::time_point{};
const auto kFarAway = Clock::time_point::max();

/// A name server that answers when it is told to. Names that begin with "no" have no address.
class Names {
public:
    Result<Resolver::Addresses> operator()(const std::string& host) {
        std::unique_lock lock(mutex_);
        ++asked_;
        opened_.wait(lock, [this] { return open_; });
        if (host.starts_with("no")) return make_error_code(Error::resolve_failed);
        return Resolver::Addresses{asio::ip::make_address("127.0.0.7")};
    }
    void open() {
        const std::scoped_lock lock(mutex_);
        open_ = true;
        opened_.notify_all();
    }
    int asked() const { return asked_; }

private:
    std::mutex mutex_;
    std::condition_variable opened_;
    bool open_ = false;
    std::atomic<int> asked_ = 0;
};

class ResolverTest : public ::testing::Test {
protected:
    ResolverTest() { keep(5s); }
    ~ResolverTest() override { names.open(); }

    void keep(Clock::duration how_long) {
        auto ask = [held = held](const std::string& host) { return (*held)(host); };
        resolver = std::make_unique<Resolver>(io.get_executor(), how_long, ask);
    }
    Result<Endpoints> resolve(const std::string& host, const std::string& port = "3129",
                              Clock::time_point deadline = kFarAway) {
        return run(io, resolver->resolve(host, port, deadline));
    }
    void ask(const std::string& host, Pending<Result<Endpoints>>& answer) {
        start(io, resolver->resolve(host, "1", kFarAway), answer);
    }
    static std::string text(const Result<Endpoints>& result) {
        if (!result) return result.error().message();
        return result->front().address().to_string() + ' ' + std::to_string(result->front().port());
    }

    asio::io_context io;
    std::shared_ptr<Names> held = std::make_shared<Names>();  // a lookup may outlive the test
    Names& names = *held;
    std::unique_ptr<Resolver> resolver;
};

TEST_F(ResolverTest, LiteralAddressesAnswerAtOnceAndAskNobody) {
    EXPECT_EQ(text(resolve("127.0.0.1", "80", kPast)), "127.0.0.1 80");
    EXPECT_EQ(text(resolve("::1", "65535", kPast)), "::1 65535");
    EXPECT_EQ(text(resolve("[::1]", "0", kPast)), "::1 0");
    EXPECT_EQ(names.asked(), 0);
}

TEST_F(ResolverTest, APortIsANumberThatFits) {
    for (const auto* port : {"", "http", "65536", "-1", "80 ", " 80", "0x50"}) {
        EXPECT_EQ(resolve("127.0.0.1", port).error(), Error::resolve_failed) << port;
    }
}

TEST_F(ResolverTest, NamesAreLookedUp) {
    names.open();
    EXPECT_EQ(text(resolve("yes")), "127.0.0.7 3129");
    EXPECT_EQ(resolve("no").error(), Error::resolve_failed);
}

TEST_F(ResolverTest, AnEmptyNameIsNotThisHost) {
    names.open();
    EXPECT_EQ(resolve("").error(), Error::resolve_failed);
    EXPECT_EQ(names.asked(), 0);
}

TEST_F(ResolverTest, WhoCannotWaitLeavesAndTheAnswerIsKeptForTheNext) {
    EXPECT_EQ(resolve("yes", "1", kPast).error(), Error::resolve_timeout);
    names.open();
    EXPECT_EQ(text(resolve("yes", "2")), "127.0.0.7 2");
    EXPECT_EQ(text(resolve("yes", "3", kPast)), "127.0.0.7 3");
    EXPECT_EQ(names.asked(), 1);
}

TEST_F(ResolverTest, BadNewsIsKeptToo) {
    names.open();
    EXPECT_EQ(resolve("no").error(), Error::resolve_failed);
    EXPECT_EQ(resolve("no").error(), Error::resolve_failed);
    EXPECT_EQ(names.asked(), 1);
}

TEST_F(ResolverTest, AnAnswerThatIsNotKeptIsLookedUpAnew) {
    names.open();
    keep(0s);
    EXPECT_TRUE(resolve("yes"));
    EXPECT_TRUE(resolve("yes"));
    EXPECT_EQ(names.asked(), 2);
}

TEST_F(ResolverTest, AllWhoAskForOneNameGetTheAnswerOfOneLookup) {
    std::list<Pending<Result<Endpoints>>> answers(kMaxNamesInFlight + 50);
    for (auto& answer : answers) ask("yes", answer);
    io.poll();
    names.open();
    io.restart();
    io.run();
    for (const auto& answer : answers) EXPECT_TRUE(answer.value && *answer.value);
    EXPECT_EQ(names.asked(), 1);
}

TEST_F(ResolverTest, TooManyNamesAtOnceAreRefused) {
    std::list<Pending<Result<Endpoints>>> answers(kMaxNamesInFlight);
    int number = 0;
    for (auto& answer : answers) ask("name " + std::to_string(number++), answer);
    io.poll();
    Pending<Result<Endpoints>> one_more;
    ask("another", one_more);
    io.poll();
    ASSERT_TRUE(one_more.value);
    EXPECT_EQ(one_more.value->error(), Error::resolver_busy);
    names.open();
    io.restart();
    io.run();
    for (const auto& answer : answers) EXPECT_TRUE(*answer.value);
    EXPECT_TRUE(resolve("another"));
}

TEST_F(ResolverTest, TheNamesItRemembersAreLimited) {
    names.open();
    ASSERT_TRUE(resolve("first"));
    const auto many = static_cast<int>(kMaxNamesKept);
    for (int i = 0; i < many; ++i) ASSERT_TRUE(resolve("name " + std::to_string(i)));
    ASSERT_EQ(names.asked(), many + 1);
    EXPECT_TRUE(resolve("name " + std::to_string(many - 1)));
    EXPECT_EQ(names.asked(), many + 1);  // the latest is known
    EXPECT_TRUE(resolve("first"));
    EXPECT_EQ(names.asked(), many + 2);  // the first is not
}

TEST_F(ResolverTest, ACancelledWaiterLeaves) {
    auto wait = [](Resolver& from, boost::system::error_code& why) -> awaitable<void> {
        const auto answer = co_await from.resolve("yes", "1", kFarAway);
        if (!answer) why = answer.error();
    };
    boost::system::error_code why;
    TaskGroup tasks(io.get_executor());
    tasks.spawn(wait(*resolver, why));
    io.poll();
    EXPECT_EQ(tasks.size(), 1U);
    tasks.cancel();
    io.restart();
    io.poll();
    EXPECT_EQ(tasks.size(), 0U);
    EXPECT_EQ(why, asio::error::operation_aborted);
}

TEST_F(ResolverTest, ItsEndWaitsForNoLookupUnderWay) {
    auto other = std::make_unique<asio::io_context>();
    auto ask = [held = held](const std::string& host) { return (*held)(host); };
    auto leaving = std::make_unique<Resolver>(other->get_executor(), 5s, ask);
    Pending<Result<Endpoints>> answer;
    start(*other, leaving->resolve("yes", "1", kFarAway), answer);
    while (names.asked() == 0) other->poll_one();
    leaving.reset();  // nobody has opened the names: this would wait for ever
    other.reset();
    names.open();  // the answer comes when all who asked are gone
    EXPECT_FALSE(answer.value);
    EXPECT_EQ(resolve("yes")->size(), 1U);
}

TEST(ResolverOfTheSystem, KnowsThisHostAndNoImpossibleName) {
    const auto found = Resolver::ask_system("localhost");
    ASSERT_TRUE(found);
    for (const auto& address : *found) EXPECT_TRUE(address.is_loopback());
    // A label of more than 63 bytes: no name server need be asked.
    const auto none = Resolver::ask_system(std::string(80, 'x'));
    EXPECT_EQ(none.error(), Error::resolve_failed);
}

}  // namespace
}  // namespace protocol::test
