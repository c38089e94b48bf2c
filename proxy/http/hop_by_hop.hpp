#pragma once

#include "proxy/http/cache_control.hpp"
#include "proxy/http/fields.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace proxy {

/// Names the asking node and carries its token in a question from node to node. Never passed on.
inline constexpr std::string_view kPeerField = "Hearsay-Peer";
/// Sent beside it: names and keyed hashes of the client's request fields, in place of their values
/// (hashed_fields.hpp).
inline constexpr std::string_view kFieldsField = "Hearsay-Fields";

/// Sent beside it with a question for a block: which of several bodies with one tag it is of
/// (storage/body_version.hpp).
inline constexpr std::string_view kFormField = "Hearsay-Form";

/// Limit for the options of Connection, and for the field names in the argument of a no-cache or
/// private directive: more than real messages have.
inline constexpr std::size_t kMaxNamedFields = 32;

/// A few field names, kept as views of a head. Nearly always there are none.
class NameSet {
public:
    /// False when the set is full; the name is not added then.
    bool add(std::string_view name);
    bool contains(std::string_view name) const;
    bool empty() const { return names_.empty(); }

private:
    std::vector<std::string_view> names_;
};

/// Which fields of one head stop at this hop (RFC 9110 §7.6.1, RFC 9111 §3.1): Connection and what
/// it names, Keep-Alive, Proxy-Connection, TE, Transfer-Encoding, Upgrade, Proxy-Authenticate,
/// Proxy-Authentication-Info, Proxy-Authorization, kPeerField, kFieldsField and kFormField; and
/// Trailer, which would promise the trailers that the parser drops (RFC 9110 §6.6.2).
/// Content-Length and Host never stop here, whatever Connection names: without them the message
/// would mean something else. Views the head; cheap when there is no Connection field or it only
/// says close or keep-alive.
class HopByHop {
public:
    explicit HopByHop(Fields head);
    bool operator()(const Field& field) const;

    /// More than kMaxNamedFields options: refuse the message (400 or 502).
    bool too_many() const { return too_many_; }
    /// Connection options of framing: RFC 9112 §9.3.
    bool close() const { return close_; }
    bool keep_alive() const { return keep_alive_; }

private:
    NameSet named_;
    bool too_many_ = false, close_ = false, keep_alive_ = false;
};

/// Set-Cookie, or its forerunner Set-Cookie2: meant for one client.
bool is_set_cookie(const Field& field);

/// Which fields of a response go into the store: all except hop-by-hop ones, Age (it is counted
/// on), cookies unless `rules` let them be stored, and those that a qualified no-cache or private
/// keeps for the first client (RFC 9111 §5.2.2.4, §5.2.2.7).
class StoredFields {
public:
    StoredFields(Fields response, const CacheRules& rules);
    bool operator()(const Field& field) const;

private:
    HopByHop hop_by_hop_;
    NameSet withheld_;
    bool cookies_too_;
};

}  // namespace proxy
