#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/wire/keys.hpp"
#include "protocol/wire/message.hpp"

/// The beginning of a link: both ends prove that they hold a cluster key, say who they are, and
/// agree on secrets for this link alone. Pure functions of the messages; FORMAT.md has the exact
/// computation. The connection ends after any error; what the other end is told about it is a
/// Refusal.
namespace protocol {

/// Who we are, in every hello of this run.
struct Identity {
    std::string node;
    Instance instance{};  // random; tells two runs, or two nodes of one name, apart
};

/// The dialling side. Construct, send hello(), feed it the challenge, send proof(); then the link
/// is up when the tagged Welcome comes.
class PublisherHello {
public:
    /// `peer`: whom we mean; empty: whoever is there. `keys` must outlive this.
    PublisherHello(const Identity& self, const KeyRing& keys, std::string peer, Nonce nonce,
                   const summary::Descriptor& summary);

    const Hello& hello() const { return hello_; }

    struct Answer {
        Proof proof;
        LinkSecrets secrets;
        std::string node;     // who it is
        Instance instance{};  // its run
    };
    /// Errors: what a Refusal said, own_id, bad_name, wrong_node, wrong_key, bad_proof,
    /// unexpected_frame.
    Result<Answer> on_message(const HelloMessage& message) const;

private:
    const KeyRing& keys_;
    Hello hello_;
};

/// The listening side. Feed it the hello, send challenge(); feed it the proof; then the publisher
/// is known to be who it says.
class SubscriberHello {
public:
    struct Rules {
        std::function<bool(std::string_view node)> is_peer;
        std::uint64_t max_summary_bytes = 0;
    };
    /// `self`, `keys` and `rules` must outlive this.
    SubscriberHello(const Identity& self, const KeyRing& keys, const Rules& rules, Nonce nonce);

    /// Errors, all to be sent as a Refusal: bad_name, own_id, duplicate_id, wrong_node,
    /// unknown_node, wrong_key, other_hash_key; and unexpected_frame.
    Result<Challenge> on_hello(const HelloMessage& message);
    /// Errors: bad_proof, unexpected_frame. Precondition: on_hello gave a challenge.
    Result<LinkSecrets> on_proof(const HelloMessage& message) const;
    /// What stands against the summary that is about to be announced: unknown_kind, shape_refused,
    /// or nothing. Judged after on_proof, so that it is the peer's and no stranger's.
    boost::system::error_code judge_summary() const;

    /// What the publisher said; to be believed after on_proof.
    const Hello& hello() const { return hello_; }

private:
    Result<const std::string*> judge(const Hello& hello) const;

    const Identity& self_;
    const KeyRing& keys_;
    const Rules& rules_;
    Hello hello_;
    Challenge challenge_;
    const std::string* key_ = nullptr;
};

}  // namespace protocol
