#include "protocol/links/hello.hpp"

#include <cassert>
#include <utility>

#include "protocol/membership/peer_config.hpp"
#include "protocol/wire/codec.hpp"
#include "protocol/wire/frame.hpp"
#include "protocol/wire/reason_against.hpp"

namespace protocol {
namespace {

constexpr std::string_view kSubscriberLabel = "hearsay 3 subscriber";
constexpr std::string_view kPublisherLabel = "hearsay 3 publisher";

Bytes body_of(const HelloMessage& message) {
    Bytes body;
    encode_body(message, body);
    return body;
}

/// The MAC over all fields that both ends have sent so far, the version included.
base::Mac prove(std::string_view label, std::string_view key, const Hello& hello,
                Challenge challenge, bool with_subscriber_mac) {
    if (!with_subscriber_mac) challenge.mac = {};
    const std::byte version{kProtocolVersion};
    const auto first = body_of(hello);
    const auto second = body_of(challenge);
    base::HmacSha256 mac(base::bytes_of(key));
    return mac({base::bytes_of(label), {&version, 1}, first, second});
}

base::Mac subscriber_mac(std::string_view key, const Hello& hello, const Challenge& challenge) {
    return prove(kSubscriberLabel, key, hello, challenge, false);
}

base::Mac publisher_mac(std::string_view key, const Hello& hello, const Challenge& challenge) {
    return prove(kPublisherLabel, key, hello, challenge, true);
}

}  // namespace

PublisherHello::PublisherHello(const Identity& self, const KeyRing& keys, std::string peer,
                               Nonce nonce, const summary::Descriptor& summary)
    : keys_(keys) {
    hello_.keys = keys.ids();
    hello_.from = self.node;
    hello_.to = std::move(peer);
    hello_.instance = self.instance;
    hello_.nonce = nonce;
    hello_.summary = summary;
    hello_.rules = self.rules;
}

base::Result<PublisherHello::Answer> PublisherHello::on_message(const HelloMessage& message) const {
    if (const auto* refusal = std::get_if<Refusal>(&message)) {
        return make_error_code(refusal->reason);
    }
    const auto* challenge = std::get_if<Challenge>(&message);
    if (challenge == nullptr) return make_error_code(Error::unexpected_frame);
    if (challenge->instance == hello_.instance) return make_error_code(Error::own_id);
    if (!is_node_name(challenge->from)) return make_error_code(Error::bad_name);
    const bool is_meant = hello_.to.empty() || challenge->from == hello_.to;
    if (!is_meant) return make_error_code(Error::wrong_node);
    const auto* key = keys_.find(challenge->key);
    if (key == nullptr) return make_error_code(Error::wrong_key);
    if (!base::equal_in_constant_time(challenge->mac, subscriber_mac(*key, hello_, *challenge))) {
        return make_error_code(Error::bad_proof);
    }
    Answer answer;
    answer.proof.mac = publisher_mac(*key, hello_, *challenge);
    answer.secrets = link_secrets(*key, answer.proof.mac);
    answer.node = challenge->from;
    answer.instance = challenge->instance;
    return answer;
}

SubscriberHello::SubscriberHello(const Identity& self, const KeyRing& keys, const Rules& rules,
                                 Nonce nonce)
    : self_(self), keys_(keys), rules_(rules) {
    challenge_.from = self.node;
    challenge_.instance = self.instance;
    challenge_.nonce = nonce;
}

base::Result<Challenge> SubscriberHello::on_hello(const HelloMessage& message) {
    const auto* hello = std::get_if<Hello>(&message);
    if (hello == nullptr) return make_error_code(Error::unexpected_frame);
    hello_ = *hello;
    const auto key = judge(hello_);
    if (!key) return key.error();
    key_ = *key;
    challenge_.key = keys_.id_of(*key_);
    challenge_.mac = subscriber_mac(*key_, hello_, challenge_);
    return challenge_;
}

base::Result<const std::string*> SubscriberHello::judge(const Hello& hello) const {
    if (!is_node_name(hello.from)) return make_error_code(Error::bad_name);
    if (hello.from == self_.node) {
        const bool self = hello.instance == self_.instance;
        return make_error_code(self ? Error::own_id : Error::duplicate_id);
    }
    const auto* key = keys_.first_common(hello.keys);
    if (key == nullptr) return make_error_code(Error::wrong_key);
    const bool is_meant = hello.to.empty() || hello.to == self_.node;
    if (!is_meant) return make_error_code(Error::wrong_node);
    if (!rules_.is_peer(hello.from)) return make_error_code(Error::unknown_node);
    if (hello.keys.back() != keys_.hash_id()) return make_error_code(Error::other_hash_key);
    if (hello.rules != self_.rules) return make_error_code(Error::rules_differ);
    return key;
}

base::Result<LinkSecrets> SubscriberHello::on_proof(const HelloMessage& message) const {
    assert(key_ != nullptr);
    const auto* proof = std::get_if<Proof>(&message);
    if (proof == nullptr) return make_error_code(Error::unexpected_frame);
    const auto expected = publisher_mac(*key_, hello_, challenge_);
    if (!base::equal_in_constant_time(proof->mac, expected))
        return make_error_code(Error::bad_proof);
    return link_secrets(*key_, expected);
}

boost::system::error_code SubscriberHello::judge_summary() const {
    const auto why = reason_against(summary::judge(hello_.summary, rules_.max_summary_bytes));
    if (!why) return {};
    // A refusal uses a coarser error than the end of an established link.
    return make_error_code(is_refusal(*why) ? *why : Error::shape_refused);
}

}  // namespace protocol
