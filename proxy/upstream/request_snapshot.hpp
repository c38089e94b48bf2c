#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/cache_key.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/telemetry/span.hpp"
#include "proxy/upstream/site.hpp"

namespace proxy {

/// A fetch's own copy of the request that began it, with its site: the fetch goes on after the
/// client has left. Not movable, as `fields` views the texts. Immutable; the fetches of one request
/// share it.
struct RequestSnapshot {
    /// Keeps the end-to-end fields of `request`. `whole`: without conditions and ranges, as the
    /// answer is meant for the store. `chosen`: the site of `key`; a request that goes to peers
    /// alone needs none.
    RequestSnapshot(const Head& request, const CacheKey& key, bool whole, KeptSite chosen = {});
    RequestSnapshot(const RequestSnapshot&) = delete;
    RequestSnapshot& operator=(const RequestSnapshot&) = delete;

    /// The rules of this request, whatever is reloaded meanwhile.
    const LoadedConfig& config() const { return *kept.config; }
    const SitePolicy& policy() const { return kept.site.policy; }
    /// The upstream that answers it; none without a site.
    const std::optional<UpstreamTarget>& origin() const { return kept.origin; }

    /// The request target for origins.
    std::string_view target() const { return path.empty() ? key.path() : std::string_view(path); }
    /// The URL that origins know. Its query is whole, whatever rules leave of it in the key.
    CacheKey url_at_origin() const;

    const KeptSite kept;
    CacheKey key;
    int version = 11;  // of the request's protocol
    std::string method;
    std::string_view host;       // for origins: as the key or the mirror has it
    std::string path;            // for origins, if a mirror gives it another form; else empty
    std::string_view text;       // "Name: value\r\n" each
    std::string_view forwarded;  // those that are for origins alone: is_forwarded_field()
    std::vector<Field> fields;
    RequestTrace trace;        // of the request; its spans are the parents of the fetch's
    std::string trace_lines;   // for origins: the client's `tracestate`, "Name: value\r\n" each
    bool of_redirect = false;  // an origin's `Location` names its URL, not the client

private:
    void keep_fields(const Head& request, bool whole);

    std::unique_ptr<char[]> texts_;  // `text` and `forwarded`
};

/// The head of a request, empty line included. `node`: see name_in_via(). `to`: the server that was
/// chosen for it. A parent proxy gets the target in absolute form. `trace`: goes out as
/// `traceparent` if it is valid, unless the rule of the request decides about that field.
std::string origin_request(const RequestSnapshot& request, const UpstreamTarget& to,
                           std::string_view node, std::string_view extra_lines,
                           const TraceContext& trace = {});

}  // namespace proxy
