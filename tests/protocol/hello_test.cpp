#include "protocol/links/hello.hpp"

#include <gtest/gtest.h>

#include <string>

#include "protocol/membership/peer_config.hpp"
#include "tests/protocol/bytes.hpp"

namespace protocol::test {
namespace hello_test {

const std::string kOld = "0123456789abcdef0123456789abcdef";
const std::string kNew = "fedcba9876543210fedcba9876543210";
const Nonce kNonceA = counting<Nonce>(1);
const Nonce kNonceB = counting<Nonce>(101);
constexpr summary::Shape kShape{1024, 4};

/// One node: its identity and its demands.
struct Node {
    Node(std::string node, unsigned instance, std::vector<std::string> keys)
        : self{std::move(node), filled<Instance>(instance)}, ring(std::move(keys)) {
        rules.is_peer = [](std::string_view name) { return name == "a" || name == "b"; };
        rules.max_summary_bytes = 1 << 20;
    }
    PublisherHello dial(std::string peer, Nonce nonce = kNonceA) const {
        return {self, ring, std::move(peer), nonce, bloom(kShape)};
    }
    SubscriberHello answer(Nonce nonce = kNonceB) const { return {self, ring, rules, nonce}; }

    Identity self;
    KeyRing ring;
    SubscriberHello::Rules rules;
};

class HelloBetween : public ::testing::Test {
protected:
    /// The answer of b to this hello.
    boost::system::error_code refusal_of(const Hello& hello) const {
        auto subscriber = b.answer();
        const auto challenge = subscriber.on_hello(hello);
        return challenge ? boost::system::error_code() : challenge.error();
    }

    Node a{"a", 1, {kOld}};
    Node b{"b", 2, {kOld}};
};

TEST_F(HelloBetween, NodesWithOneKeyAgreeOnSecrets) {
    const auto publisher = a.dial("b");
    auto subscriber = b.answer();
    const auto challenge = subscriber.on_hello(publisher.hello());
    ASSERT_TRUE(challenge);
    const auto answer = publisher.on_message(*challenge);
    ASSERT_TRUE(answer);
    const auto secrets = subscriber.on_proof(answer->proof);
    ASSERT_TRUE(secrets);
    EXPECT_EQ(secrets->from_publisher, answer->secrets.from_publisher);
    EXPECT_EQ(secrets->from_subscriber, answer->secrets.from_subscriber);
    EXPECT_EQ(secrets->token, answer->secrets.token);
    EXPECT_EQ(answer->instance, b.self.instance);
    EXPECT_EQ(subscriber.hello(), publisher.hello());
}

TEST_F(HelloBetween, SecretsDifferWhenEitherNonceDoes) {
    const auto token = [&](Nonce of_a, Nonce of_b) {
        const auto publisher = a.dial("b", of_a);
        auto subscriber = b.answer(of_b);
        return publisher.on_message(*subscriber.on_hello(publisher.hello()))->secrets.token;
    };
    const auto reference = token(kNonceA, kNonceB);
    EXPECT_EQ(token(kNonceA, kNonceB), reference);
    EXPECT_NE(token(kNonceA, kNonceA), reference);
    EXPECT_NE(token(kNonceB, kNonceB), reference);
}

TEST_F(HelloBetween, AHelloWithoutACommonKeyIsRefused) {
    a.ring = KeyRing({kNew});
    EXPECT_EQ(refusal_of(a.dial("b").hello()), Error::wrong_key);
}

TEST_F(HelloBetween, NamingTheKeyIsNotHavingIt) {
    // The id of the right key, the MAC of another.
    auto forged = a.dial("b").hello();
    auto subscriber = b.answer();
    ASSERT_TRUE(subscriber.on_hello(forged));
    EXPECT_EQ(subscriber.on_proof(Proof{filled<base::Mac>(9)}).error(), Error::bad_proof);

    const auto publisher = a.dial("b");
    auto challenge = *b.answer().on_hello(publisher.hello());
    challenge.mac = filled<base::Mac>(9);
    EXPECT_EQ(publisher.on_message(challenge).error(), Error::bad_proof);
    challenge.key = key_id(kNew);
    EXPECT_EQ(publisher.on_message(challenge).error(), Error::wrong_key);
}

TEST_F(HelloBetween, AReplayedHelloFailsAtTheProofAsTheChallengeIsNew) {
    const auto publisher = a.dial("b");
    auto first = b.answer(kNonceB);
    const auto recorded = publisher.on_message(*first.on_hello(publisher.hello()));
    ASSERT_TRUE(first.on_proof(recorded->proof));
    auto second = b.answer(counting<Nonce>(55));
    ASSERT_TRUE(second.on_hello(publisher.hello()));
    EXPECT_EQ(second.on_proof(recorded->proof).error(), Error::bad_proof);
}

TEST_F(HelloBetween, AReplayedChallengeIsRefused) {
    const auto recorded = *b.answer().on_hello(a.dial("b").hello());
    EXPECT_EQ(a.dial("b", counting<Nonce>(55)).on_message(recorded).error(), Error::bad_proof);
}

TEST_F(HelloBetween, TheSubscribersProofIsNoPublishersProof) {
    // A challenge sent back to its maker must not open a link.
    auto subscriber = b.answer();
    const auto challenge = *subscriber.on_hello(a.dial("b").hello());
    EXPECT_EQ(subscriber.on_proof(Proof{challenge.mac}).error(), Error::bad_proof);
}

TEST_F(HelloBetween, TheProofFailsAfterAnyChangeOnTheWay) {
    const auto publisher = a.dial("b");
    const auto fails = [&](auto change) {
        auto changed = publisher.hello();
        change(changed);
        auto subscriber = b.answer();
        const auto challenge = subscriber.on_hello(changed);
        ASSERT_TRUE(challenge);
        EXPECT_EQ(publisher.on_message(*challenge).error(), Error::bad_proof);
    };
    fails([](Hello& hello) { hello.nonce[0] ^= std::byte{1}; });
    fails([](Hello& hello) { hello.instance[0] ^= std::byte{1}; });
    fails([](Hello& hello) { hello.summary = bloom({kShape.bits + 64, kShape.hashes}); });
    fails([](Hello& hello) { hello.summary = bloom({kShape.bits, kShape.hashes + 1}); });
    fails([](Hello& hello) { hello.keys.insert(hello.keys.begin(), key_id(kNew)); });

    const auto fails_back = [&](auto change) {
        auto challenge = *b.answer().on_hello(publisher.hello());
        change(challenge);
        EXPECT_EQ(publisher.on_message(challenge).error(), Error::bad_proof);
    };
    fails_back([](Challenge& challenge) { challenge.nonce[0] ^= std::byte{1}; });
    fails_back([](Challenge& challenge) { challenge.instance[0] ^= std::byte{1}; });
}

TEST_F(HelloBetween, EitherOfTwoKeysWillDoWhileTheHashKeyIsTheSame) {
    a.ring = KeyRing({kNew, kOld});
    EXPECT_EQ(refusal_of(a.dial("b").hello()), boost::system::error_code());
    std::swap(a.ring, b.ring);
    EXPECT_EQ(refusal_of(a.dial("b").hello()), boost::system::error_code());
    a.ring = KeyRing({kNew, kOld});
    auto subscriber = b.answer();
    const auto challenge = subscriber.on_hello(a.dial("b").hello());
    ASSERT_TRUE(challenge);
    EXPECT_EQ(challenge->key, key_id(kNew));  // the first that the publisher prefers
}

TEST_F(HelloBetween, ALinkKeyInCommonButAnotherHashKeyIsRefused) {
    a.ring = KeyRing({kNew, kOld});
    b.ring = KeyRing({kNew});
    EXPECT_EQ(refusal_of(a.dial("b").hello()), Error::other_hash_key);
}

TEST_F(HelloBetween, ANodeRecognisesItself) {
    EXPECT_EQ(refusal_of(b.dial("b").hello()), Error::own_id);
    EXPECT_EQ(refusal_of(b.dial("c").hello()), Error::own_id);
    const auto publisher = a.dial("b");
    auto challenge = *b.answer().on_hello(publisher.hello());
    challenge.instance = a.self.instance;
    EXPECT_EQ(publisher.on_message(challenge).error(), Error::own_id);
}

TEST_F(HelloBetween, AnotherNodeOfOurNameIsADuplicate) {
    const Node twin("b", 3, {kOld});
    EXPECT_EQ(refusal_of(twin.dial("b").hello()), Error::duplicate_id);
}

TEST_F(HelloBetween, TheExpectedNodeMustAnswer) {
    EXPECT_EQ(refusal_of(a.dial("c").hello()), Error::wrong_node);
    const auto publisher = a.dial("c");
    const Node c("c", 3, {kOld});
    auto challenge = *c.answer().on_hello(publisher.hello());
    challenge.from = "b";
    EXPECT_EQ(publisher.on_message(challenge).error(), Error::wrong_node);
}

TEST_F(HelloBetween, ANodeOutsideTheListIsRefused) {
    const Node stranger("z", 9, {kOld});
    EXPECT_EQ(refusal_of(stranger.dial("b").hello()), Error::unknown_node);
}

TEST_F(HelloBetween, ANameThatNoConfigurationWouldTakeIsRefusedByBothSides) {
    for (const std::string name : {"b\xff", "b\nx", "b c", "\"b\"", "b,c", "\xc3\xbc"}) {
        b.rules.is_peer = [](std::string_view) { return true; };
        const Node odd(name, 9, {kOld});
        EXPECT_EQ(refusal_of(odd.dial("b").hello()), Error::bad_name) << name;
        const auto publisher = a.dial("");
        auto challenge = *b.answer().on_hello(publisher.hello());
        challenge.from = name;
        EXPECT_EQ(publisher.on_message(challenge).error(), Error::bad_name) << name;
        EXPECT_FALSE(is_node_name(name));
    }
    EXPECT_TRUE(is_node_name("cache-1.example_x"));
    EXPECT_FALSE(is_node_name(""));
    EXPECT_TRUE(is_node_name(std::string(kMaxNodeIdBytes, 'a')));
    EXPECT_FALSE(is_node_name(std::string(kMaxNodeIdBytes + 1, 'a')));
}

TEST_F(HelloBetween, KindsAndShapesItCannotUseAreRefused) {
    auto hello = a.dial("b").hello();
    const auto refused = [&](std::string_view descriptor) {
        hello.summary = *summary::Descriptor::from(unhex(descriptor));
        auto subscriber = b.answer();
        EXPECT_TRUE(subscriber.on_hello(hello)) << "a stranger's summary is nobody's";
        return subscriber.judge_summary();
    };
    EXPECT_EQ(refused("7f 0000000000000080 04"), Error::unknown_kind);
    EXPECT_EQ(refused("7f"), Error::unknown_kind) << "of another length";
    EXPECT_EQ(refused("04 0000000000000000 04"), Error::shape_refused) << "no bits";
    EXPECT_EQ(refused("04 0000000000000040 00"), Error::shape_refused) << "no hashes";
    EXPECT_EQ(refused("04 0000000000000040 11"), Error::shape_refused) << "17 hashes";
    EXPECT_EQ(refused("04 0000000100000001 04"), Error::shape_refused) << "more than 2^32 bits";
    EXPECT_EQ(refused("04 0000000000000040"), Error::shape_refused) << "cut short";
    EXPECT_EQ(refused("04 0000000000000040 04 00"), Error::shape_refused) << "left over";
    EXPECT_EQ(refused("04 0000000000800008 04"), Error::shape_refused) << "above 1 MiB";
    EXPECT_EQ(refused("04 0000000000800000 04"), boost::system::error_code());
}

TEST_F(HelloBetween, MessagesOutOfTurnAreUnexpected) {
    const auto publisher = a.dial("b");
    EXPECT_EQ(publisher.on_message(Proof{}).error(), Error::unexpected_frame);
    EXPECT_EQ(publisher.on_message(publisher.hello()).error(), Error::unexpected_frame);
    auto subscriber = b.answer();
    EXPECT_EQ(subscriber.on_hello(Proof{}).error(), Error::unexpected_frame);
    ASSERT_TRUE(subscriber.on_hello(publisher.hello()));
    EXPECT_EQ(subscriber.on_proof(publisher.hello()).error(), Error::unexpected_frame);
    EXPECT_EQ(subscriber.on_proof(Refusal{}).error(), Error::unexpected_frame);
}

TEST_F(HelloBetween, ARefusalIsTheErrorItNames) {
    EXPECT_EQ(a.dial("b").on_message(Refusal{Error::duplicate_id}).error(), Error::duplicate_id);
}

TEST_F(HelloBetween, NodesWhoseRulesMakeOtherKeysAreRefused) {
    a.self.rules = 7;
    EXPECT_EQ(refusal_of(a.dial("b").hello()), Error::rules_differ);
    b.self.rules = 7;
    EXPECT_EQ(refusal_of(a.dial("b").hello()), boost::system::error_code());
    a.self.rules = 0;
    EXPECT_EQ(refusal_of(a.dial("b").hello()), Error::rules_differ);
    a.ring = KeyRing({kNew});
    EXPECT_EQ(refusal_of(a.dial("b").hello()), Error::wrong_key) << "a stranger learns nothing";
}

TEST_F(HelloBetween, TheMacCoversTheRules) {
    a.self.rules = b.self.rules = 7;
    const auto publisher = a.dial("b");
    auto subscriber = b.answer();
    auto changed = publisher.hello();
    const auto challenge = subscriber.on_hello(changed);
    ASSERT_TRUE(challenge);
    a.self.rules = 8;
    EXPECT_EQ(a.dial("b").on_message(*challenge).error(), Error::bad_proof);
}

}  // namespace hello_test
}  // namespace protocol::test
