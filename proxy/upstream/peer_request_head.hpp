#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/wire/keys.hpp"
#include "proxy/http/cache_control.hpp"
#include "proxy/upstream/request_snapshot.hpp"

namespace proxy {

/// The head of the peer requests for one client request (protocol/FORMAT.md, Peer requests): the
/// target, the client's directives on age, and the fields that select variants. Nothing else of the
/// client's request leaves the node, because peers have no need of it. Fields that only negotiate
/// content go out as they are, and of all others the names, with hashes where they select variants.
/// `request` must outlive it.
class PeerRequestHead {
public:
    /// `selecting`: the fields by which responses of the site vary (VaryingFields). Those in the
    /// `key_fields` of the request's rule are added to them.
    PeerRequestHead(const RequestSnapshot& request, const RequestDirectives& directives,
                    const protocol::FieldKey& key, std::string selecting);

    /// False: the request has more fields than a peer request can carry.
    bool possible() const { return hashes_.has_value(); }

    /// The head, empty line included. Precondition: possible(). `token`: the proof, and behind it
    /// options such as ` stale`. `max_age`: the greatest age of a useful response.
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
