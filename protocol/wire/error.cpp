#include "protocol/wire/error.hpp"

#include <boost/system/errc.hpp>
#include <string>

#include "base/async/error.hpp"

namespace protocol {
namespace {

struct Words {
    Error error;
    std::string_view name;
    const char* message;
};

/// In the order of the codes.
constexpr Words kWords[] = {
    {Error::hello_timeout, "hello_timeout", "hello not finished in time"},
    {Error::peer_silent, "peer_silent", "nothing heard from the peer for too long"},
    {Error::peer_not_reading, "peer_not_reading", "the peer stopped reading"},
    {Error::connection_closed, "connection_closed", "connection closed by the peer"},
    {Error::goodbye, "goodbye", "the peer said goodbye"},
    {Error::superseded, "superseded", "replaced by a newer connection"},
    {Error::restarted, "restarted", "the peer has restarted"},
    {Error::frame_too_large, "frame_too_large", "frame above the size limit"},
    {Error::frame_too_short, "frame_too_short", "frame below the smallest size"},
    {Error::unknown_frame, "unknown_frame", "unknown frame type"},
    {Error::unexpected_frame, "unexpected_frame", "frame at the wrong time"},
    {Error::malformed_frame, "malformed_frame", "malformed frame"},
    {Error::bad_tag, "bad_tag", "frame not authentic: corrupted or forged"},
    {Error::bad_sequence, "bad_sequence", "frame repeated, lost or reordered"},
    {Error::malformed_summary, "malformed_summary", "summary cannot be decoded"},
    {Error::summary_too_large, "summary_too_large", "summary above the size limit"},
    {Error::too_many_links, "too_many_links", "too many connections"},
    {Error::too_many_shapes, "too_many_shapes", "new summary shapes too often"},
    {Error::out_of_memory, "out_of_memory", "out of memory for a message of the peer"},
    {Error::no_peer_any_more, "no_peer_any_more", "it is no longer one of the peers"},
    {Error::reached_elsewhere, "reached_elsewhere", "this peer is reached at another address"},
    {Error::too_many_peers, "too_many_peers", "this node has reached its limit cluster.max_peers"},
    {Error::replaced, "replaced",
     "another instance of the node has taken its name after its goodbye"},
    {Error::tls_failed, "tls_failed",
     "what the other side sends is no TLS: it is no link of this version, or another server"},
    {Error::wrong_version, "wrong_version", "another version of the protocol"},
    {Error::wrong_key, "wrong_key", "no cluster key in common"},
    {Error::bad_proof, "bad_proof", "hello not authentic: forged or replayed"},
    {Error::unknown_node, "unknown_node",
     "the dialled node does not list the dialling node as a peer"},
    {Error::wrong_node, "wrong_node", "another node than the expected one answers at this address"},
    {Error::own_id, "own_id", "this node dialled itself"},
    {Error::duplicate_id, "duplicate_id", "two running nodes have the same id"},
    {Error::other_hash_key, "other_hash_key",
     "keys are hashed under another secret (rotation under way)"},
    {Error::unknown_kind, "unknown_kind", "unknown kind of summary"},
    {Error::shape_refused, "shape_refused", "summary shape out of limits"},
    {Error::refused, "refused", "refused for a reason unknown here"},
    {Error::peers_full, "peers_full", "the dialled node has reached its limit cluster.max_peers"},
    {Error::bad_name, "bad_name", "its name is invalid for a node"},
    {Error::not_encrypted, "not_encrypted",
     "the dialling node does not encrypt, and the dialled node has cluster.encrypt on"},
    {Error::encrypted, "encrypted",
     "the dialling node has cluster.encrypt on, and the dialled node has it off"},
    {Error::rules_differ, "rules_differ", "the nodes have different rules that change keys"},
};

constexpr bool every_error_has_its_row() {
    auto expected = static_cast<int>(Error::first_of_this_node);
    for (const auto& words : kWords) {
        if (static_cast<int>(words.error) != expected) return false;
        ++expected;
        if (words.error == Error::last_of_this_node)
            expected = static_cast<int>(Error::first_refusal);
    }
    return expected == static_cast<int>(Error::last_refusal) + 1;
}
static_assert(every_error_has_its_row());

Words words(Error error) noexcept {
    for (const auto& each : kWords)
        if (each.error == error) return each;
    return {error, "unknown", "unknown error"};
}

// Boost's base class has a protected destructor that is not virtual; categories are never deleted.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
class Category final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "hearsay.protocol"; }
    std::string message(int code) const override { return words(static_cast<Error>(code)).message; }
};
#pragma GCC diagnostic pop

}  // namespace

namespace {

std::string_view name_of_system(const boost::system::error_code& error) {
    namespace errc = boost::system::errc;
    if (error == errc::connection_refused) return "connection_refused";
    if (error == errc::connection_reset) return "connection_reset";
    if (error == errc::connection_aborted) return "connection_aborted";
    if (error == errc::broken_pipe) return "connection_reset";  // the same, seen by a writer
    if (error == errc::timed_out) return "connection_timed_out";
    if (error == errc::host_unreachable) return "host_unreachable";
    if (error == errc::network_unreachable) return "network_unreachable";
    if (error == errc::network_down) return "network_down";
    if (error == errc::address_not_available) return "address_not_available";
    if (error == errc::permission_denied || error == errc::operation_not_permitted)
        return "not_permitted";
    if (error == errc::too_many_files_open || error == errc::too_many_files_open_in_system)
        return "no_descriptors";
    return {};
}

}  // namespace

bool is_refusal(const boost::system::error_code& error) noexcept {
    return error.category() == error_category() &&
           error.value() >= static_cast<int>(Error::first_refusal);
}

std::string reason_of(const boost::system::error_code& error) {
    if (error.category() == error_category())
        return std::string(name(static_cast<Error>(error.value())));
    if (error.category() == base::error_category())
        return std::string(base::name(static_cast<base::Error>(error.value())));
    const auto known = name_of_system(error);
    return known.empty() ? "system:" + std::to_string(error.value()) : std::string(known);
}

const boost::system::error_category& error_category() noexcept {
    static const Category category;
    return category;
}

std::string_view name(Error error) noexcept {
    return words(error).name;
}

}  // namespace protocol
