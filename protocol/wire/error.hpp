#pragma once

#include <boost/system/error_code.hpp>
#include <string>
#include <string_view>
#include <type_traits>

namespace protocol {

/// The reasons that end a hello or a link, one code for each case that a log should distinguish,
/// beside those of base::Error. Codes below `first_refusal` stay on this node. A refusal travels as
/// one byte in the hello (FORMAT.md), so its value is part of the wire format, and later versions
/// only add values.
enum class Error {
    hello_timeout = 6,  // connected, and the hello took too long
    peer_silent,        // no valid frame for `gone_after`
    peer_not_reading,   // a write made no progress for `gone_after`
    connection_closed,  // the peer closed the connection
    goodbye,            // the peer withdrew its summary and left
    superseded,         // the same peer came back on a newer connection
    restarted,          // another instance of the same peer has appeared
    frame_too_large,    // the length prefix is above the limit
    frame_too_short,    // the length prefix leaves no room for the fixed fields
    unknown_frame,      // a frame type this version does not know
    unexpected_frame,   // a known frame at the wrong time or in the wrong direction
    malformed_frame,    // fields missing, left over or out of range
    bad_tag,            // the tag does not match the link key
    bad_sequence,       // a frame was repeated, lost or reordered
    malformed_summary,  // a snapshot or delta that cannot be decoded
    summary_too_large,  // the shape is above the limit for one peer
    too_many_links,     // more connections at once than peers need
    too_many_shapes,    // it changes its shape too often
    out_of_memory,      // memory ran out for its message
    no_peer_any_more,   // removed from the list of peers, or its place was dropped
    reached_elsewhere,  // the node at this place is a peer that is reached at another
    too_many_peers,     // the limit of peers is reached
    replaced,           // this instance has said goodbye, and another has its name
    tls_failed,         // the other side sends what is no TLS

    first_of_this_node = hello_timeout,
    last_of_this_node = tls_failed,

    first_refusal = 100,
    wrong_version = 100,  // speaks another version of the protocol
    wrong_key,            // no cluster key in common
    bad_proof,            // right key, but a proof for another hello (forged, replayed)
    unknown_node,         // not in the list of peers
    wrong_node,           // another node answers at this address
    own_id,               // this node dialled itself
    duplicate_id,         // two running nodes have the same id
    other_hash_key,       // hashes keys under another secret (key rotation under way)
    unknown_kind,         // a kind of summary that this version lacks
    shape_refused,        // summary shape out of limits
    refused,              // a reason that this version lacks
    peers_full,           // its list of peers is full, and lacks this node
    bad_name,             // invalid name of a node
    not_encrypted,        // dialled in the clear, where links have to be encrypted
    encrypted,            // dialled encrypted, where links are in the clear
    rules_differ,         // makes other keys, because its rules are others
    last_refusal = rules_differ,
};

const boost::system::error_category& error_category() noexcept;

/// Short snake_case name, for status and metrics; `Error::wrong_key` -> "wrong_key".
std::string_view name(Error error) noexcept;

/// Whether one end sends this reason when it refuses the other.
bool is_refusal(const boost::system::error_code& error) noexcept;

/// Short name of the reason that ended a link: name() of an Error or base::Error, a name such as
/// `connection_refused` for common system errors, "system:<number>" for others.
std::string reason_of(const boost::system::error_code& error);

inline boost::system::error_code make_error_code(Error error) noexcept {
    return {static_cast<int>(error), error_category()};
}

}  // namespace protocol

template <>
struct boost::system::is_error_code_enum<protocol::Error> : std::true_type {};
