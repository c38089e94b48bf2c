#pragma once

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>
#include <string>
#include <string_view>
#include <type_traits>

namespace protocol {

/// A value, or why there is none. Expected trouble travels as a value, never as an exception.
template <typename T>
using Result = boost::system::result<T>;

/// Everything that can end a wait, a hello or a link, one code for each thing worth telling apart
/// in a log. Codes below `first_refusal` never travel; a refusal travels as one byte in the hello
/// (FORMAT.md), so those values are part of the wire format and only grow by addition.
enum class Error {
    timed_out = 1,      // a wait whose caller gave no better name
    resolve_timeout,    // the name server did not answer in time
    resolve_failed,     // the name has no address
    resolver_busy,      // too many names are being looked up at once
    connect_timeout,    // no endpoint of the peer took the connection in time
    hello_timeout,      // connected, but the hello was not finished in time
    peer_silent,        // no valid frame for `gone_after`
    peer_not_reading,   // a write made no progress for `gone_after`
    connection_closed,  // the peer closed the connection
    goodbye,            // the peer withdrew its summary and left
    superseded,         // the same peer came back on a newer connection
    restarted,          // another run of the same peer was heard of
    frame_too_large,    // the length prefix is above the limit
    frame_too_short,    // the length prefix leaves no room for the fixed fields
    unknown_frame,      // a frame type this version does not know
    unexpected_frame,   // a known frame at the wrong time or in the wrong direction
    malformed_frame,    // fields missing, left over or out of range
    bad_tag,            // the frame was not made by the holder of the link key
    bad_sequence,       // a frame was repeated, lost or reordered
    malformed_summary,  // a snapshot or delta that cannot be decoded
    summary_too_large,  // a shape above the limit for one peer
    too_many_links,     // more connections at once than peers could need
    too_many_shapes,    // it changes the shape of its summary again and again
    out_of_memory,      // there was none for what it sent
    no_peer_any_more,   // it was taken from the list of peers, or its place leads nowhere
    reached_elsewhere,  // the node at this place is a peer that is reached at another
    too_many_peers,     // there is no room for another peer
    replaced,           // this run has said goodbye, and another has its name

    last_of_this_node = replaced,

    first_refusal = 100,
    wrong_version = 100,  // speaks another version of the protocol
    wrong_key,            // no cluster key in common
    bad_proof,            // right key named, but the proof is not for this hello (forged, replayed)
    unknown_node,         // not in the list of peers
    wrong_node,           // somebody else answers at this address
    own_id,               // this node dialled itself
    duplicate_id,         // two running nodes have the same id
    other_hash_key,       // hashes keys under another secret (key rotation under way)
    unknown_kind,         // a kind of summary this version does not know
    shape_refused,        // summary shape out of limits
    refused,              // a reason that this version does not know
    peers_full,           // it has as many peers as it may, and this node is none of them
    bad_name,             // no node may be called so
    last_refusal = bad_name,
};

const boost::system::error_category& error_category() noexcept;

/// Short snake_case name, for status and metrics; `Error::wrong_key` -> "wrong_key".
std::string_view name(Error error) noexcept;

/// A reason that one end tells the other when it does not welcome it.
bool is_refusal(const boost::system::error_code& error) noexcept;

/// Short name of what ended a link: ours as in name(Error), those of the system that come with
/// connecting as `connection_refused`, others as "system:<number>".
std::string reason_of(const boost::system::error_code& error);

inline boost::system::error_code make_error_code(Error error) noexcept {
    return {static_cast<int>(error), error_category()};
}

}  // namespace protocol

template <>
struct boost::system::is_error_code_enum<protocol::Error> : std::true_type {};
