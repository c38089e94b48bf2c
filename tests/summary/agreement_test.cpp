// Owner, bytes, a link that loses and repeats, replica and directory together: in every case, a
// replica that believes to be in sync has exactly the bits the owner announced.

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "summary/coding/coding.hpp"
#include "summary/directory/directory.hpp"
#include "summary/directory/replica.hpp"
#include "summary/own/own_bloom_summary.hpp"
#include "tests/summary/bloom.hpp"
#include "tests/summary/keys.hpp"

namespace summary {
namespace agreement_test {

using Announced = std::pair<std::uint64_t, std::uint64_t>;  // epoch, generation

struct Message {
    enum Kind { snapshot, delta, heartbeat, check_hash } kind;
    Announced announced;
    Shape shape;
    Bytes payload;
    std::uint64_t check = 0;
};

class Scene {
public:
    explicit Scene(std::uint64_t seed) : random_(seed) { remember(); }

    void step() {
        switch (random_.below(8)) {
            case 0:
            case 1:
            case 2:
                change(random_.below(60));
                break;
            case 3:
            case 4:
                announce();
                break;
            case 5:
                if (random_.one_in(2) || !replica_.in_sync()) send_snapshot();
                break;
            case 6:
                deliver({Message::heartbeat, latest(), {}, {}});
                break;
            default:
                if (!sent_.empty())
                    receive(sent_[random_.below(sent_.size())]);  // an old one again
        }
    }

    /// Ends the disorder: everything is announced and arrives.
    void settle() {
        announce();
        send_snapshot();
        receive(sent_.back());
        ASSERT_TRUE(replica_.in_sync());
        ASSERT_EQ(test::bits_of(replica_), test::bits_of(own_));
        ASSERT_EQ(replica_.check(own_.epoch(), own_.generation(), own_.check_hash()),
                  ApplyResult::ok);
        for (const auto number : stored_) {
            ASSERT_TRUE(contains(replica_.filter(), test::asked(test::key(number))));
            ASSERT_EQ(directory_->candidates(test::asked(test::key(number))), PeerSet{kPeer});
        }
    }

    std::map<ApplyResult, int> answers;
    int regrown = 0;

private:
    static constexpr unsigned kPeer = 3;

    Announced latest() const { return {own_.epoch(), own_.generation()}; }

    Announced at_replica() const { return {replica_.epoch(), replica_.generation()}; }

    void remember() { announced_[latest()] = test::bits_of(own_); }

    void change(std::uint64_t count) {
        // The cache fills and empties in turn, so that shapes change too.
        if (random_.one_in(200)) target_ = 100 + random_.below(6000);
        for (; count > 0; --count) {
            const auto number = random_.below(2 * target_);
            const bool store = stored_.size() < target_ ? !random_.one_in(5) : random_.one_in(5);
            if (store) {
                ASSERT_EQ(own_.stored(test::key(number)), stored_.insert(number).second);
            } else if (!stored_.empty()) {
                auto gone = stored_.lower_bound(number);
                if (gone == stored_.end()) gone = stored_.begin();
                ASSERT_TRUE(own_.removed(test::key(*gone)));
                stored_.erase(gone);
            }
        }
    }

    void announce() {
        if (own_.fit() != Fit::fits) {
            test::regrow(own_);
            ++regrown;
            remember();
            return send_snapshot();
        }
        const auto delta = own_.take_delta(test::kNoLimit);
        remember();
        Message message{Message::delta, latest(), own_.shape(), {}};
        const auto& bits = announced_.at(latest());
        if (!delta) test::append_snapshot(bits, message.payload);
        if (!delta || encode_update(*delta, bits, message.payload) != Coding::delta)
            message.kind = Message::snapshot;
        deliver(std::move(message));
        deliver({Message::check_hash, latest(), {}, {}, own_.check_hash()});
    }

    void send_snapshot() {
        Message message{Message::snapshot, latest(), own_.shape(), {}};
        test::append_snapshot(test::bits_of(own_), message.payload);
        deliver(std::move(message));
    }

    void deliver(Message message) {
        sent_.push_back(std::move(message));
        if (sent_.size() > 40) sent_.erase(sent_.begin());
        if (random_.one_in(8)) return;  // lost
        for (auto times = random_.one_in(8) ? 2 : 1; times > 0; --times) receive(sent_.back());
    }

    void receive(const Message& message) {
        const auto [epoch, generation] = message.announced;
        auto answer = ApplyResult::ok;
        const bool comparable = message.kind == Message::check_hash && replica_.in_sync() &&
                                message.announced == at_replica();
        if (message.kind == Message::heartbeat) {
            answer = replica_.heard(epoch, generation);
        } else if (message.kind == Message::check_hash) {
            answer = replica_.check(epoch, generation, message.check);
        } else if (message.kind == Message::snapshot) {
            auto bits = test::bits_in(message.payload, message.shape.bits);
            ASSERT_TRUE(bits);
            const auto as_sent = *bits;
            answer = replica_.apply_snapshot(epoch, generation,
                                             BloomFilter(message.shape, std::move(*bits)));
            if (answer == ApplyResult::ok) {
                expected_ = as_sent;
                load_directory();
            }
        } else {
            const auto done = replica_.apply_delta(epoch, generation, message.payload);
            answer = done.what;
            if (answer == ApplyResult::ok) {
                expected_ = announced_.at(message.announced);
                directory_->apply(kPeer, *done.change);
            }
        }
        ++answers[answer];
        ASSERT_NE(answer, ApplyResult::malformed);
        // A snapshot between two announcements is ahead of the check-hash of the first, if that
        // comes again late.
        ASSERT_EQ(answer == ApplyResult::differs,
                  comparable && message.check != expected_.check_hash());
        if (replica_.in_sync()) {
            ASSERT_EQ(test::bits_of(replica_), expected_);
        }
    }

    void load_directory() {
        if (!directory_ || directory_->descriptor(kPeer) != replica_.descriptor()) {
            const Directory::Member member{kPeer, replica_.descriptor(), &replica_.filter()};
            directory_.emplace(std::span(&member, 1));
        } else {
            directory_->load(kPeer, replica_.filter());
        }
    }

    test::Random random_;
    OwnBloomSummary own_{{0.01, 1, 0}};
    std::uint64_t target_ = 2000;
    std::set<std::uint64_t> stored_;
    std::map<Announced, BitArray> announced_;
    std::vector<Message> sent_;
    Replica replica_;
    BitArray expected_;
    std::optional<Directory> directory_;
};

TEST(Agreement, AReplicaHasTheOwnersBitsOrKnowsThatItHasNot) {
    std::map<ApplyResult, int> answers;
    int regrown = 0;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        Scene scene(seed);
        for (int i = 0; i < 1500; ++i) {
            scene.step();
            if (testing::Test::HasFatalFailure()) return;
        }
        scene.settle();
        if (testing::Test::HasFatalFailure()) return;
        for (const auto& [answer, count] : scene.answers) answers[answer] += count;
        regrown += scene.regrown;
    }
    // The disorder did happen.
    for (const auto answer :
         {ApplyResult::ok, ApplyResult::repeated, ApplyResult::gap, ApplyResult::wrong_epoch}) {
        EXPECT_GT(answers[answer], 100) << static_cast<int>(answer);
    }
    EXPECT_GT(regrown, 100);
}

}  // namespace agreement_test
}  // namespace summary
