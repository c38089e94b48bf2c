#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/arrival.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/http/freshness.hpp"
#include "proxy/storage/blocks.hpp"
#include "proxy/storage/body.hpp"
#include "summary/key_hash.hpp"

namespace proxy {

/// What is known of a stored response without its body: all that says whether it may be reused, for
/// whom, and how its answer begins.
struct StoredMetadata {
    unsigned status = 0;
    bool shares_cookie = false;  // of storage_verdict.hpp: stored as store_set_cookie was on
    /// Status line and field lines as they go out, each with its CRLF, in the order received and
    /// with our Via; without Age, Cache-Status, Content-Length, Transfer-Encoding and hop-by-hop
    /// fields, which belong to one answer.
    std::string head;
    Freshness freshness;
    Arrival arrival;  // the age counts from here
    /// What its Vary names, and the values of the request that fetched it (see vary.hpp).
    std::string vary_names, variant;
    std::vector<summary::KeyHash> tags;  // sorted; see tags.hpp
    std::optional<Blocks> blocks;        // an index: the body stands in blocks of their own

    /// The field lines of `head`, for merging and for conditions. The views live as long as this
    /// object.
    std::vector<Field> fields() const;

    /// What its texts take beside this object.
    std::uint64_t text_bytes() const;
    /// Gives back what their making has left unused, if that is much. Invalidates views into them.
    void shrink();

    /// Time since it arrived, which its age counts on (RFC 9111 §4.2.3).
    std::chrono::seconds residence(Arrival::Steady now) const { return arrival.residence(now); }
};

/// What stands behind one answer: metadata, and where the body is. Immutable once its head is made;
/// the body may still grow (then it belongs to a Fill). Shared by threads through
/// shared_ptr<const>. Whoever sends the body reads it through a BodyReader.
struct StoredResponse : StoredMetadata {
    StoredResponse() = default;
    StoredResponse(StoredMetadata metadata, std::shared_ptr<Body> bytes)
        : StoredMetadata(std::move(metadata)), body(std::move(bytes)) {}

    std::shared_ptr<Body> body = std::make_shared<Body>();  // empty when there are `blocks`
    Charge charge;  // for the head and the store's own records

    std::uint64_t body_bytes() const { return blocks ? blocks->length : body->size(); }
};

/// Of two of one target, the later takes the place of the other: they are for the same selecting
/// values, or the names that select have changed.
inline bool is_same_variant(const StoredMetadata& a, const StoredMetadata& b) {
    return a.vary_names != b.vary_names || a.variant == b.variant;
}

}  // namespace proxy
