#include "proxy/tls/leaf_certificates.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

#include "proxy/http/wall_clock.hpp"

namespace proxy {
namespace leaf_certificates_test {

namespace asio = boost::asio;
using std::chrono::days;

std::shared_ptr<const SigningAuthority> authority(const std::string& fingerprint) {
    auto made = std::make_shared<SigningAuthority>();
    made->fingerprint = fingerprint;
    return made;
}

/// Makes empty certificates while the gate is open.
struct Signer {
    LeafPtr operator()(const SigningAuthority& by, const std::string& host) {
        std::unique_lock lock(mutex);
        opened.wait(lock, [this] { return open; });
        ++made;
        if (host == "bad") throw std::runtime_error("no");
        auto leaf = std::make_shared<LeafCertificate>();
        leaf->times = {wall_now() - age, wall_now() - age + days(7)};
        leaf->authority = by.fingerprint;
        return leaf;
    }
    void let() {
        const std::lock_guard lock(mutex);
        open = true;
        opened.notify_all();
    }

    std::mutex mutex;
    std::condition_variable opened;
    bool open = false;
    std::chrono::seconds age = days(1);
    std::atomic<int> made{0};
};

class Leaves : public ::testing::Test {
protected:
    void ask(const std::string& host, const std::string& by = "ca") {
        asio::co_spawn(
            io_,
            [](Leaves& self, std::string name, std::string signer) -> asio::awaitable<void> {
                auto leaf = co_await self.leaves_.get(authority(signer), std::move(name),
                                                      self.io_.get_executor());
                self.got_.push_back(std::move(leaf));
            }(*this, host, by),
            asio::detached);
    }
    void run() {
        io_.restart();
        io_.run();
    }

    asio::io_context io_;
    Signer signer_;
    LeafCertificates leaves_{
        [this](const SigningAuthority& by, const std::string& host) { return signer_(by, host); }};
    std::vector<LeafPtr> got_;
};

TEST_F(Leaves, AreMadeOnceForAllWhoAskAtOnce) {
    for (int i = 0; i < 20; ++i) ask("pypi.org");
    io_.poll();
    EXPECT_TRUE(got_.empty());
    signer_.let();
    run();
    ASSERT_EQ(got_.size(), 20u);
    for (const auto& each : got_) EXPECT_EQ(each, got_.front());
    ask("pypi.org");
    run();
    EXPECT_EQ(signer_.made, 1);
    EXPECT_EQ(leaves_.numbers().cached, 1u);
    EXPECT_EQ(leaves_.numbers().minted, 1u);
}

TEST_F(Leaves, AreMadeAnewForAnotherCa) {
    signer_.let();
    ask("pypi.org", "old");
    run();
    ask("pypi.org", "new");
    run();
    ASSERT_EQ(got_.size(), 2u);
    EXPECT_EQ(got_[1]->authority, "new");
    EXPECT_EQ(leaves_.numbers().cached, 1u);
}

TEST_F(Leaves, AreGivenWhileTheirSuccessorIsMade) {
    signer_.let();
    signer_.age = days(5);  // of seven
    ask("pypi.org");
    run();
    ask("pypi.org");
    run();
    ASSERT_EQ(got_.size(), 2u);
    EXPECT_EQ(got_[0], got_[1]);
    while (signer_.made < 2) std::this_thread::yield();
}

TEST_F(Leaves, AreMissingAfterAFailureAndCanBeAskedForAgain) {
    signer_.let();
    ask("bad");
    run();
    ask("bad");
    run();
    ASSERT_EQ(got_.size(), 2u);
    EXPECT_FALSE(got_[0]);
    EXPECT_EQ(signer_.made, 2);
    EXPECT_EQ(leaves_.numbers().minted, 0u);
}

TEST_F(Leaves, AreRefusedWhenTooManyHostsWait) {
    for (std::size_t i = 0; i < LeafCertificates::kWaiting; ++i) ask("h" + std::to_string(i));
    io_.poll();
    EXPECT_TRUE(got_.empty());
    ask("one-more");
    io_.poll();
    ASSERT_EQ(got_.size(), 1u);
    EXPECT_FALSE(got_[0]);
    signer_.let();
    run();
    EXPECT_EQ(got_.size(), LeafCertificates::kWaiting + 1);
}

TEST_F(Leaves, AreNotMadeAfterTheEnd) {
    signer_.let();
    leaves_.close();
    ask("pypi.org");
    run();
    ASSERT_EQ(got_.size(), 1u);
    EXPECT_FALSE(got_[0]);
}

}  // namespace leaf_certificates_test
}  // namespace proxy
