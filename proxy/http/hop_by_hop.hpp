#pragma once

#include "proxy/http/cache_control.hpp"
#include "proxy/http/fields.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace proxy {

/// Name and token of the sender of a peer request. The receiver does not forward it.
inline constexpr std::string_view kPeerField = "Hearsay-Peer";
/// The last option in kPeerField: the mark of the asking node's rule for the target, in
/// hexadecimal.
inline constexpr std::string_view kRuleOption = " rule=";
/// Names of the client's request fields in a peer request, with keyed hashes in place of some
/// values (hashed_fields.hpp).
inline constexpr std::string_view kFieldsField = "Hearsay-Fields";

/// The form of a block in a peer request: it selects one of several bodies with one ETag
/// (storage/body_version.hpp).
inline constexpr std::string_view kFormField = "Hearsay-Form";

/// The mark of the server in a group that a peer's copy is from, in hexadecimal
/// (StoredMetadata::server).
inline constexpr std::string_view kServerField = "Hearsay-Server";

/// When the cluster first saw the content of a peer's copy (min_age.hpp).
inline constexpr std::string_view kFirstSeenField = "Hearsay-First-Seen";
/// In a peer request: kWhoFetches, kWhoElse and a node, or kFollow (fetch/meeting_plan.hpp).
inline constexpr std::string_view kMeetField = "Hearsay-Meet";
/// In a peer's refusal: the node that fetches the content, as far as the peer knows.
inline constexpr std::string_view kFetcherField = "Hearsay-Fetcher";

/// Limit for the options of Connection, and for the field names in the argument of a no-cache or
/// private directive. Real messages have fewer.
inline constexpr std::size_t kMaxNamedFields = 32;

/// A small set of field names, as views of a head. It is empty for nearly every head.
class NameSet {
public:
    /// Returns false, and leaves the set as it is, if it is full.
    bool add(std::string_view name);
    bool contains(std::string_view name) const;
    bool empty() const { return names_.empty(); }

private:
    std::vector<std::string_view> names_;
};

/// Selects the fields of one head that stop at this hop (RFC 9110 §7.6.1, RFC 9111 §3.1):
/// Connection and the fields that it names, Keep-Alive, Proxy-Connection, TE, Transfer-Encoding,
/// Upgrade, Proxy-Authenticate, Proxy-Authentication-Info, Proxy-Authorization, kPeerField,
/// kFieldsField, kFormField, kServerField, kFirstSeenField, kMeetField and kFetcherField. Trailer
/// stops too, because the parser drops the trailers (RFC 9110 §6.6.2). Content-Length and Host
/// always pass, because they define the meaning of the message. Views the head. Cheap for a
/// Connection field that is absent, or is close or keep-alive.
class HopByHop {
public:
    explicit HopByHop(Fields head);
    bool operator()(const Field& field) const;

    /// More than kMaxNamedFields options: refuse the message (400 or 502).
    bool too_many() const { return too_many_; }
    /// The option of RFC 9112 §9.3 that concerns HTTP/1.0.
    bool keep_alive() const { return keep_alive_; }

private:
    NameSet named_;
    bool too_many_ = false, keep_alive_ = false;
};

/// Set-Cookie, or its forerunner Set-Cookie2. Both are for one client.
bool is_set_cookie(const Field& field);

/// Selects the fields of a response that are stored: all except hop-by-hop fields, Age (the store
/// counts it), cookies that `rules` exclude, and the fields that a qualified no-cache or private
/// keeps for the first client (RFC 9111 §5.2.2.4, §5.2.2.7).
class StoredFields {
public:
    StoredFields(Fields response, const CacheRules& rules);
    /// `withheld`: ResponseDirectives::withheld() of the response.
    StoredFields(Fields response, const CacheRules& rules,
                 std::span<const std::string_view> withheld);
    bool operator()(const Field& field) const;
    /// The same, without a check of what hop_by_hop() checks.
    bool takes_end_to_end(const Field& field) const;
    const HopByHop& hop_by_hop() const { return hop_by_hop_; }

private:
    HopByHop hop_by_hop_;
    NameSet withheld_;
    bool cookies_too_;
};

}  // namespace proxy
