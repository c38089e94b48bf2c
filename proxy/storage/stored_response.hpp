#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/arrival.hpp"
#include "proxy/http/field_block.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/http/freshness.hpp"
#include "proxy/http/vary.hpp"
#include "proxy/storage/blocks.hpp"
#include "proxy/storage/body.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// The metadata of a stored response: the facts that decide on its reuse, on its audience, and on
/// the head of its answers.
struct StoredMetadata {
    std::uint16_t status = 0;
    bool shares_cookie = false;   // of storage_verdict.hpp: stored under store_set_cookie
    bool by_rule_alone = false;   // without the rule of `rule_mark` it would not be stored for all
    std::uint32_t rule_mark = 0;  // Rule::mark of the rule that judged it; 0: none
    std::uint32_t server = 0;  // UpstreamServer::mark of the server in a group that gave the body
    bool from_peer = false;    // a peer gave the body; unknown, so false, after a restart
    /// The fields that every response from the store has, as a FieldBlock and with our Via. Age,
    /// Cache-Status, Content-Length, Transfer-Encoding and hop-by-hop fields belong to one response
    /// and are left out.
    std::string head_fields;
    Freshness freshness;
    Arrival arrival;  // the age counts from here
    /// The field names of Vary, and their values in the request that fetched it (see vary.hpp).
    std::string vary_names, variant;
    std::vector<summary::KeyHash> tags;  // sorted; see tags.hpp
    std::optional<Blocks> blocks;        // set in an index, whose body is in blocks

    /// The same as single fields, for merging and for conditions. The views live as long as this
    /// object.
    std::vector<Field> fields() const { return fields_of(head_fields); }

    /// The memory of its texts beside this object.
    std::uint64_t text_bytes() const;
    /// Frees unused capacity of the texts, if it is much. Invalidates views into them.
    void shrink();

    /// The time since its arrival, which its age counts on (RFC 9111 §4.2.3).
    std::chrono::seconds residence(Arrival::Steady now) const { return arrival.residence(now); }
};

/// A response with metadata and body. Immutable once its head is complete; the body may still grow,
/// and then it belongs to a Fill. Threads share it through shared_ptr<const>. A sender reads the
/// body through a BodyReader.
struct StoredResponse : StoredMetadata {
    StoredResponse() = default;
    StoredResponse(StoredMetadata metadata, std::shared_ptr<Body> bytes)
        : StoredMetadata(std::move(metadata)), body(std::move(bytes)) {}

    std::shared_ptr<Body> body = std::make_shared<Body>();  // empty when there are `blocks`
    base::Charge charge;  // for the head and the store's own records

    std::uint64_t body_bytes() const { return blocks ? blocks->length : body->size(); }
};

/// Of two such responses of one target, the later replaces the other: requests with the same values
/// select both, or one of them is for all requests.
inline bool is_same_variant(const StoredMetadata& a, const StoredMetadata& b) {
    const auto is_for_all = [](const StoredMetadata& one) {
        return one.vary_names.empty() || one.vary_names == kVaryAny;
    };
    if (a.vary_names != b.vary_names) return is_for_all(a) || is_for_all(b);
    return a.variant == b.variant;
}

}  // namespace proxy
