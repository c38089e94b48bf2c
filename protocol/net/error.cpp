#include "protocol/net/error.hpp"

#include <boost/system/errc.hpp>
#include <string>

namespace protocol {
namespace {

struct Words {
    std::string_view name;
    const char* message;
};

Words words(Error error) noexcept {
    switch (error) {
        case Error::timed_out:
            return {"timed_out", "no answer in time"};
        case Error::resolve_timeout:
            return {"resolve_timeout", "name not resolved in time"};
        case Error::resolve_failed:
            return {"resolve_failed", "name has no address"};
        case Error::resolver_busy:
            return {"resolver_busy", "too many names are being resolved"};
        case Error::connect_timeout:
            return {"connect_timeout", "no connection in time"};
        case Error::hello_timeout:
            return {"hello_timeout", "hello not finished in time"};
        case Error::peer_silent:
            return {"peer_silent", "nothing heard from the peer for too long"};
        case Error::peer_not_reading:
            return {"peer_not_reading", "the peer stopped reading"};
        case Error::connection_closed:
            return {"connection_closed", "connection closed by the peer"};
        case Error::goodbye:
            return {"goodbye", "the peer said goodbye"};
        case Error::superseded:
            return {"superseded", "replaced by a newer connection"};
        case Error::restarted:
            return {"restarted", "the peer has restarted"};
        case Error::frame_too_large:
            return {"frame_too_large", "frame above the size limit"};
        case Error::frame_too_short:
            return {"frame_too_short", "frame below the smallest size"};
        case Error::unknown_frame:
            return {"unknown_frame", "unknown frame type"};
        case Error::unexpected_frame:
            return {"unexpected_frame", "frame at the wrong time"};
        case Error::malformed_frame:
            return {"malformed_frame", "malformed frame"};
        case Error::bad_tag:
            return {"bad_tag", "frame not authentic: corrupted or forged"};
        case Error::bad_sequence:
            return {"bad_sequence", "frame repeated, lost or reordered"};
        case Error::malformed_summary:
            return {"malformed_summary", "summary cannot be decoded"};
        case Error::summary_too_large:
            return {"summary_too_large", "summary above the size limit"};
        case Error::too_many_links:
            return {"too_many_links", "too many connections"};
        case Error::too_many_shapes:
            return {"too_many_shapes", "new summary shapes too often"};
        case Error::out_of_memory:
            return {"out_of_memory", "no memory for what the peer sent"};
        case Error::no_peer_any_more:
            return {"no_peer_any_more", "it is no longer one of the peers"};
        case Error::reached_elsewhere:
            return {"reached_elsewhere", "this peer is reached at another address"};
        case Error::too_many_peers:
            return {"too_many_peers",
                    "this node has as many peers as its cluster.max_peers allows"};
        case Error::replaced:
            return {"replaced", "it has said goodbye, and another run of the node has its name"};
        case Error::wrong_version:
            return {"wrong_version", "another version of the protocol"};
        case Error::wrong_key:
            return {"wrong_key", "no cluster key in common"};
        case Error::bad_proof:
            return {"bad_proof", "hello not authentic: forged or replayed"};
        case Error::unknown_node:
            return {"unknown_node",
                    "the node that dials is not in the list of peers of the one it dials"};
        case Error::wrong_node:
            return {"wrong_node", "the node at this address is not the one that is meant"};
        case Error::own_id:
            return {"own_id", "this node dialled itself"};
        case Error::duplicate_id:
            return {"duplicate_id", "two running nodes have the same id"};
        case Error::other_hash_key:
            return {"other_hash_key", "keys are hashed under another secret (rotation under way)"};
        case Error::unknown_kind:
            return {"unknown_kind", "unknown kind of summary"};
        case Error::shape_refused:
            return {"shape_refused", "summary shape out of limits"};
        case Error::refused:
            return {"refused", "refused for a reason unknown here"};
        case Error::peers_full:
            return {"peers_full",
                    "the node that is dialled has as many peers as its cluster.max_peers allows"};
        case Error::bad_name:
            return {"bad_name", "its name is none that a node may have"};
    }
    return {"unknown", "unknown error"};
}

// Boost's base class has a protected destructor that is not virtual; nobody deletes categories.
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
    if (error == errc::broken_pipe) return "connection_reset";  // the same, seen when writing
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
