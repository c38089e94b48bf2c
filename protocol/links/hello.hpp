#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/error.hpp"
#include "protocol/wire/keys.hpp"
#include "protocol/wire/message.hpp"

/// The start of a link: both ends prove that they have a cluster key, name themselves, and agree on
/// secrets for this link. Pure functions of the messages; FORMAT.md has the exact computation. The
/// connection ends after any error. A Refusal carries the error to the other end. One thread per
/// object.
namespace protocol {

/// This node, in every hello of this instance.
struct Identity {
    std::string node;
    Instance instance{};      // random; distinguishes two instances, or two nodes with one name
    std::uint64_t rules = 0;  // PeeringConfig::rules
};

/// The dialling side. The caller constructs it, sends hello(), passes it the challenge, and sends
/// the proof. The tagged Welcome of the other side completes the link.
class PublisherHello {
public:
    /// `peer`: the expected node; empty: any. `keys` must outlive this object.
    PublisherHello(const Identity& self, const KeyRing& keys, std::string peer, Nonce nonce,
                   const summary::Descriptor& summary);

    const Hello& hello() const { return hello_; }

    struct Answer {
        Proof proof;
        LinkSecrets secrets;
        std::string node;  // the node that answered
        Instance instance{};
    };
    /// Errors: the reason of a Refusal, own_id, bad_name, wrong_node, wrong_key, bad_proof,
    /// unexpected_frame.
    base::Result<Answer> on_message(const HelloMessage& message) const;

private:
    const KeyRing& keys_;
    Hello hello_;
};

/// The listening side. The caller passes it the hello, sends the challenge, and passes it the
/// proof, which establishes the publisher's identity.
class SubscriberHello {
public:
    struct Rules {
        std::function<bool(std::string_view node)> is_peer;
        std::uint64_t max_summary_bytes = 0;
    };
    /// `self`, `keys` and `rules` must outlive this object.
    SubscriberHello(const Identity& self, const KeyRing& keys, const Rules& rules, Nonce nonce);

    /// Errors to be sent as a Refusal: bad_name, own_id, duplicate_id, wrong_node, unknown_node,
    /// wrong_key, other_hash_key, rules_differ. Other error: unexpected_frame.
    base::Result<Challenge> on_hello(const HelloMessage& message);
    /// on_hello() has given a challenge.
    bool challenged() const { return key_ != nullptr; }
    /// Errors: bad_proof, unexpected_frame. Precondition: challenged().
    base::Result<LinkSecrets> on_proof(const HelloMessage& message) const;
    /// Judges the summary that the publisher is about to announce: unknown_kind, shape_refused, or
    /// success. Called after on_proof(), so the verdict concerns a proven peer.
    boost::system::error_code judge_summary() const;

    /// The publisher's hello; trustworthy after on_proof().
    const Hello& hello() const { return hello_; }

private:
    base::Result<const std::string*> judge(const Hello& hello) const;

    const Identity& self_;
    const KeyRing& keys_;
    const Rules& rules_;
    Hello hello_;
    Challenge challenge_;
    const std::string* key_ = nullptr;
};

}  // namespace protocol
