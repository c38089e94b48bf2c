#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/fields.hpp"
#include "proxy/http/freshness.hpp"
#include "proxy/storage/blocks.hpp"
#include "proxy/storage/body.hpp"
#include "summary/key_hash.hpp"

namespace proxy {

/// What stands behind one answer: a head that is ready to be sent and a body. Immutable once its
/// head is made; the body may still grow (then it belongs to a Fill). Shared by threads through
/// shared_ptr<const>.
struct StoredResponse {
    unsigned status = 0;
    /// Status line and field lines as they go out, each with its CRLF, in the order received and
    /// with our Via; without Age, Cache-Status, Content-Length, Transfer-Encoding and hop-by-hop
    /// fields, which belong to one answer.
    std::string head;
    Freshness freshness;
    std::chrono::steady_clock::time_point received;  // residence time counts from here
    /// What its Vary names, and the values of the request that fetched it (see vary.hpp).
    std::string vary_names, variant;
    std::vector<summary::KeyHash> tags;  // sorted; see tags.hpp
    std::shared_ptr<Body> body;          // empty when there are `blocks`
    std::optional<Blocks> blocks;        // an index: the body stands in blocks of their own
    Charge charge;                       // for the head and the store's own records

    /// The field lines of `head`, for merging and for conditions. The views live as long as this
    /// object.
    std::vector<Field> fields() const;

    std::uint64_t body_bytes() const { return blocks ? blocks->length : body->size(); }

    /// Time since it arrived, which its age counts on (RFC 9111 §4.2.3).
    std::chrono::seconds residence(std::chrono::steady_clock::time_point now) const {
        return std::chrono::duration_cast<std::chrono::seconds>(now - received);
    }
};

}  // namespace proxy
