#include "proxy/request/authenticator.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <future>
#include <thread>

#include "proxy/request/request_access.hpp"
#include "tests/base/coroutine.hpp"

namespace proxy {
namespace authenticator_test {

namespace asio = boost::asio;
using Word = PasswordJudgement::Word;

constexpr auto kHash = "$2y$04$YxFk7t2rQ8wawWfpfzexK..USjyGQ47Psh76YqRdO4.ix6qH2LvOu";
constexpr auto kOther = "$2b$04$MyA9sSxDT.ZukQjqCPk/O.xYJsC3bWxdFCWDRjMpkEKSQcTxbplDS";

ClientNetwork network(unsigned char last) {
    ClientNetwork made{};
    made[8] = last;
    return made;
}

/// Passwords are right if they are "right". The checks can be held.
class Authenticators : public ::testing::Test {
protected:
    using Pending = base::test::Pending<PasswordJudgement>;

    void ask(Pending& to, const std::string& user, const std::string& password,
             unsigned char from = 1) {
        base::test::start(
            io_, authenticator_.judge(*users_, user, password, network(from), io_.get_executor()),
            to);
    }
    Word judge(const std::string& user, const std::string& password, unsigned char from = 1) {
        Pending pending;
        ask(pending, user, password, from);
        run();
        last_ = *pending.value;
        return last_.word;
    }
    void run() {
        io_.restart();
        io_.run();
    }
    void hold() { held_.lock(); }
    void let_go() { held_.unlock(); }
    void users(const std::string& text) { users_ = parse_users(text, "f").file; }

    asio::io_context io_;
    std::mutex held_;
    std::atomic<int> checks_ = 0, right_came_ = 0;  // right_came_: the number of the check
    std::string last_hash_;
    Authenticator authenticator_{[this](const std::string& password, const std::string& hash) {
        const std::lock_guard lock(held_);
        ++checks_;
        last_hash_ = hash;
        if (password == "right") right_came_ = checks_.load();
        return password == "right";
    }};
    std::shared_ptr<const PasswordFile> users_ =
        parse_users("ann:" + std::string(kHash) + "\nbob:" + kOther, "f").file;
    PasswordJudgement last_;
};

TEST_F(Authenticators, CheckAPasswordOnce) {
    EXPECT_EQ(judge("ann", "right"), Word::right);
    EXPECT_TRUE(last_.checked);
    EXPECT_EQ(judge("ann", "right", 2), Word::right);
    EXPECT_FALSE(last_.checked);
    EXPECT_EQ(judge("ann", "wrong"), Word::wrong);
    EXPECT_EQ(judge("ann", "wrong"), Word::wrong);
    EXPECT_EQ(checks_, 2);
    EXPECT_EQ(judge("bob", "right"), Word::right);
    EXPECT_EQ(last_hash_, kOther);
    EXPECT_EQ(checks_, 3);
}

TEST_F(Authenticators, TakeAsLongForAnUnknownUser) {
    EXPECT_EQ(judge("nobody", "right"), Word::wrong);
    EXPECT_EQ(checks_, 1);
    EXPECT_EQ(last_hash_, kHash);
    EXPECT_EQ(judge("ann", "right"), Word::right) << "the result above is not of this user";
}

TEST_F(Authenticators, TakeAsLongForAWrongPasswordAsTheCostliestLineDoes) {
    auto costly = std::string(kOther);
    costly.replace(costly.find("$04$"), 4, "$12$");
    users("ann:" + std::string(kHash) + "\nbob:" + costly);
    EXPECT_EQ(judge("nobody", "wrong"), Word::wrong);
    EXPECT_EQ(last_hash_, costly) << "an unknown user";
    EXPECT_EQ(checks_, 1);
    EXPECT_EQ(judge("ann", "wrong"), Word::wrong);
    EXPECT_EQ(last_hash_, costly) << "a user with a cheap hash";
    EXPECT_EQ(judge("ann", "right"), Word::right);
    EXPECT_EQ(last_hash_, kHash) << "who proves himself need not wait";
    EXPECT_EQ(judge("bob", "wrong"), Word::wrong);
    EXPECT_EQ(checks_, 5) << "one more check for ann's wrong password alone";
}

TEST_F(Authenticators, ForgetAUserWhoseLineChanges) {
    EXPECT_EQ(judge("ann", "right"), Word::right);
    users("ann:" + std::string(kOther));
    EXPECT_EQ(judge("ann", "right"), Word::right);
    EXPECT_EQ(checks_, 2) << "the new hash is checked";
    users("bob:" + std::string(kOther));
    EXPECT_EQ(judge("ann", "right"), Word::wrong);
}

TEST_F(Authenticators, LetEqualRequestsWaitForOneCheck) {
    hold();
    std::vector<Pending> pending(50);
    for (auto& each : pending) ask(each, "ann", "right");
    io_.poll();
    let_go();
    run();
    for (const auto& each : pending) EXPECT_EQ(each.value->word, Word::right);
    EXPECT_EQ(std::count_if(pending.begin(), pending.end(),
                            [](const Pending& each) { return each.value->checked; }),
              1);
    EXPECT_EQ(checks_, 1);
}

TEST_F(Authenticators, HaveRoomForOthersBesideAClientThatGuesses) {
    hold();
    std::vector<Pending> guesses(1000);
    for (std::size_t i = 0; i < guesses.size(); ++i)
        ask(guesses[i], "ann", "guess " + std::to_string(i), 1);
    Pending other;
    ask(other, "ann", "right", 2);
    io_.poll();
    EXPECT_FALSE(other.value) << "it waits";
    std::size_t busy = 0;
    for (const auto& each : guesses) busy += each.value && each.value->word == Word::busy ? 1 : 0;
    EXPECT_GE(busy, guesses.size() - Authenticator::kWaiting);
    let_go();
    while (!other.value) io_.run_one();
    EXPECT_EQ(other.value->word, Word::right);
    EXPECT_LE(right_came_, 3) << "it has its turn, not behind all guesses";
    run();
}

TEST_F(Authenticators, CheckNoFurtherGuessesOfOneNetworkForAWhile) {
    int wrong = 0;
    while (wrong < 100 && judge("ann", "guess " + std::to_string(wrong)) == Word::wrong) ++wrong;
    EXPECT_GE(wrong, 20);
    EXPECT_LT(wrong, 40);
    EXPECT_EQ(last_.word, Word::guesses);
    EXPECT_GT(last_.again_in.count(), 0);
    EXPECT_EQ(judge("ann", "right"), Word::guesses);
    EXPECT_EQ(judge("ann", "right", 2), Word::right);
    EXPECT_EQ(judge("ann", "right"), Word::right) << "the result is known";
}

TEST_F(Authenticators, CanBeClosedWhileRequestsWait) {
    hold();
    Pending first, second;
    ask(first, "ann", "right");
    ask(second, "ann", "wrong");
    io_.poll();
    auto closed = std::async(std::launch::async, [this] { authenticator_.close(); });
    let_go();
    closed.get();
    Pending later;
    ask(later, "ann", "other");
    io_.poll();
    EXPECT_EQ(later.value->word, Word::busy);
}

TEST(Passwords, ComeByTlsOrLoopbackUnlessAllowed) {
    EXPECT_TRUE(may_carry_password(true, false, false));
    EXPECT_TRUE(may_carry_password(false, true, false));
    EXPECT_TRUE(may_carry_password(false, false, true));
    EXPECT_FALSE(may_carry_password(false, false, false));
}

}  // namespace authenticator_test
}  // namespace proxy
