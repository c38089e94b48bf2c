#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/cache_key.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/rewrite/mirror.hpp"

namespace proxy {

// The head of a request to a mirrored origin. Functions of fields and settings.

/// Stands between the name of a cookie and Mirror::party, if browsers send it to other parties.
inline constexpr std::string_view kPartyMark = "~m";

/// Gives the fields that name pages and places of mirrors the names that their origins have:
/// Referer, Origin, and Destination (RFC 4918 §10.3). So an origin sees the request of a page of
/// its own, or that of a page of another party that shares the host. Cookie keeps the cookies of
/// the party of `mirror`, under the names that the origin gave, and those without a mark. `texts`
/// has the new values and outlives `fields`.
void rewrite_request(const MirrorTable& all, const Mirror& mirror, std::vector<Field>& fields,
                     std::deque<std::string>& texts);

/// The URL at the origin in place of a redirect's public `location`, if that is at the host of
/// `own`, the client's target, and of another party than `mirror`. Clients that follow take another
/// party at the same host for the one that they have proven themselves to.
std::optional<std::string> location_of_other_party(const MirrorTable& all, const Mirror& mirror,
                                                   const CacheKey& own, std::string_view location);

}  // namespace proxy
