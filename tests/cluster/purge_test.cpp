// Old content does not come back: what one node invalidates ends everywhere.

#include <atomic>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>

#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace {

/// The cable between two nodes' links: passes bytes on, until somebody pulls it.
class Cable {
public:
    Cable(const std::string& listen, const std::string& target)
        : target_(target), listener_(Socket::listen(listen, kLinkPort)), acceptor_([this] {
              for (;;) {
                  auto near = listener_.accept();
                  if (!near.open()) return;
                  connect(std::move(near));
              }
          }) {}
    ~Cable() {
        pull();
        listener_.shut();
        acceptor_.join();
        for (auto& pair : pairs_) pair.thread.join(), pair.back.join();
    }
    Cable(const Cable&) = delete;

    /// Breaks what runs over it and lets nothing new through.
    void pull() {
        const std::lock_guard lock(mutex_);
        pulled_ = true;
        for (auto& pair : pairs_) pair.near.shut(), pair.far.shut();
    }
    void mend() {
        const std::lock_guard lock(mutex_);
        pulled_ = false;
    }

private:
    struct Pair {
        Socket near, far;
        std::thread thread, back;
    };

    void connect(Socket near) {
        const std::lock_guard lock(mutex_);
        if (pulled_) return;
        Socket far;
        try {
            far = Socket::connect(target_, kLinkPort);
        } catch (const std::system_error&) {
            return;  // b does not listen yet: a dials again
        }
        auto& pair = pairs_.emplace_back();
        pair.near = std::move(near);
        pair.far = std::move(far);
        pair.thread = std::thread([&pair] { pump(pair.near, pair.far); });
        pair.back = std::thread([&pair] { pump(pair.far, pair.near); });
    }
    static void pump(Socket& from, Socket& to) {
        std::string bytes;
        while (from.receive(bytes) && to.send(bytes)) bytes.clear();
        from.shut();
        to.shut();
    }

    std::string target_;
    Socket listener_;
    std::mutex mutex_;
    bool pulled_ = false;
    std::list<Pair> pairs_;
    std::thread acceptor_;
};

class Purge : public NodesTest {
protected:
    PeerStatus seen(const std::string& node, const std::string& peer) const {
        for (const auto& each : status(node).cluster.peers)
            if (each.node == peer) return each;
        ADD_FAILURE() << "no peer " << peer;
        return {};
    }
    /// a's link to b goes through a cable, from which a test may take b away. b's link to a stays:
    /// a hears all that b announces.
    void start_with_cable(unsigned nodes) {
        cable_ = std::make_unique<Cable>(address("y"), address("b"));
        for (unsigned i = 0; i < nodes; ++i) {
            auto settings = config(std::string(1, static_cast<char>('a' + i)), nodes);
            if (i == 0) settings.cluster->peers[0].link.host = address("y");
            start(settings);
        }
        ASSERT_TRUE(eventually([&] { return in_step("a") && in_step("b"); }));
    }
    /// An origin whose content is what `version` says; each answer says it is 100 s old, so that
    /// the age of copies says what it would after that time.
    ScriptedOrigin::Scripted versioned() {
        return origin.set([this](Exchange& e) {
            e.answer(storable ? fresh("Age: 100\r\n") : "Cache-Control: no-store\r\n",
                     "version " + std::to_string(version.load()));
        });
    }

    std::atomic<int> version{1};
    std::atomic<bool> storable{true};
    std::unique_ptr<Cable> cable_;
};

TEST_F(Purge, AnUnsafeMethodThroughOneNodeEndsTheCopiesOfAll) {  // RFC 9111 §4.4
    const auto scripted = versioned();
    start_cluster(3);
    for (const auto* node : {"a", "b", "c"}) EXPECT_EQ(get(node, "/one").body, "version 1");
    version = 2;
    EXPECT_EQ(client("a").ask("POST", "/one", "", "x").status, 200u);
    ASSERT_TRUE(eventually([&] {
        return seen("a", "b").invalidations_confirmed == 1 &&
               seen("a", "c").invalidations_confirmed == 1;
    }));
    for (const auto* node : {"b", "c", "a"}) EXPECT_EQ(get(node, "/one").body, "version 2");
    EXPECT_EQ(seen("b", "a").invalidations_received, 1u);
    EXPECT_EQ(seen("b", "c").invalidations_sent, 0u) << "not passed on: a tells everybody";
}

TEST_F(Purge, AnErrorAnswerToAnUnsafeMethodEndsNothing) {  // behaviour 38
    start_cluster(2);
    store("b", "/one");
    const auto scripted = origin.set([](Exchange& e) { e.answer("", "no", "403 Forbidden"); });
    EXPECT_EQ(client("a").ask("DELETE", "/one").status, 403u);
    EXPECT_EQ(get("b", "/one").body, "body of /one");
    EXPECT_EQ(seen("a", "b").invalidations_sent, 0u);
}

TEST_F(Purge, APeerThatIsAwayIsToldWhenItIsBackAndNotAskedBefore) {
    const auto scripted = versioned();
    start_with_cable(2);
    store("b", "/one");
    cable_->pull();
    ASSERT_TRUE(eventually([&] { return !seen("b", "a").in_step(); }));
    version = 2;
    client("a").ask("POST", "/one", "", "x");
    ASSERT_TRUE(eventually([&] { return seen("a", "b").state == "behind"; }));
    EXPECT_EQ(seen("a", "b").invalidations_pending, 1u);
    EXPECT_EQ(get("a", "/one").body, "version 2");
    EXPECT_EQ(seen("a", "b").asked, 0u) << "its summary has it, but it does not count";
    EXPECT_EQ(get("b", "/one").body, "version 1") << "b cannot know";
    cable_->mend();
    ASSERT_TRUE(eventually([&] { return in_step("a") && in_step("b"); }));
    EXPECT_EQ(seen("a", "b").invalidations_pending, 0u);
    EXPECT_EQ(get("b", "/one").body, "version 2");
}

TEST_F(Purge, ANodeRefusesCopiesThatAreOlderThanItsInvalidation) {
    const auto scripted = versioned();
    start_with_cable(3);
    store("b", "/one");
    cable_->pull();
    ASSERT_TRUE(eventually([&] { return !seen("b", "a").in_step(); }));
    client("a").ask("POST", "/one", "", "x");
    ASSERT_TRUE(eventually([&] { return seen("c", "a").invalidations_received == 1; }));
    version = 2;
    storable = false;
    // c has heard of it, b has not. For a while c asks nobody, then b, which has too old a copy.
    ASSERT_TRUE(eventually([&] {
        EXPECT_EQ(get("c", "/one").body, "version 2");
        return seen("c", "b").stale_hits > 0;
    }));
    EXPECT_EQ(seen("c", "b").hits, 0u);
    EXPECT_EQ(seen("c", "b").failures, 0u);
    EXPECT_EQ(get("b", "/one").body, "version 1") << "b cannot know";
}

TEST_F(Purge, WhatAPeerWasFetchingMeanwhileIsNotStored) {
    start_cluster(2);
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        const auto now = version.load();
        if (e.method == "GET" && now == 1) gate.wait();
        e.answer(fresh(), "version " + std::to_string(now));
    });
    auto waiting = client("b");
    waiting.begin("GET", "/one");
    ASSERT_TRUE(gate.wait_for(1));
    client("a").ask("POST", "/one", "", "x");
    ASSERT_TRUE(eventually([&] { return seen("b", "a").invalidations_received == 1; }));
    gate.open();
    EXPECT_EQ(waiting.read().body, "version 1") << "it was asked for before";
    version = 2;
    EXPECT_EQ(get("b", "/one").body, "version 2");
}

}  // namespace
}  // namespace proxy::test
