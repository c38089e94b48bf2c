#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/wire/keys.hpp"
#include "proxy/http/cache_control.hpp"
#include "proxy/upstream/request_snapshot.hpp"

namespace proxy {

/// The question that a peer is asked about one request (protocol/FORMAT.md, Peer requests): the
/// target, what the client's directives say of age, and what variants are told apart by. Nothing
/// else of the client's request goes out, as peers speak in the clear: fields that only negotiate
/// content as they are, of all others hashes. `request` must outlive it.
class PeerRequestHead {
public:
    PeerRequestHead(const RequestSnapshot& request, const RequestDirectives& directives,
                    const protocol::FieldKey& key);

    /// False: the request has more fields than a question can carry, so no peer is asked.
    bool possible() const { return hashes_.has_value(); }

    /// The head, empty line included. Precondition: possible(). `token`: the proof, with ` stale`
    /// behind it when a copy that has to be validated will do. `max_age`: the peer is not to answer
    /// with what is older.
    std::string text(std::string_view node, std::string_view token,
                     std::optional<std::chrono::seconds> max_age, std::string_view extra_lines = {},
                     std::string_view method = "GET") const;

private:
    const RequestSnapshot& request_;
    const RequestDirectives directives_;
    std::string clear_lines_;
    std::optional<std::string> hashes_;
};

}  // namespace proxy
