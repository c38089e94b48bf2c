#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/cache_key.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/http/message_parser.hpp"

namespace proxy {

/// What a fetch needs of the request that began it, in memory of its own: it goes on when that
/// client has left. Not movable: `fields` views the texts.
struct RequestSnapshot {
    /// Keeps the end-to-end fields of `request`. `whole`: without conditions and ranges, as the
    /// answer is meant for the store.
    RequestSnapshot(const Head& request, const CacheKey& key, bool whole);
    RequestSnapshot(const RequestSnapshot&) = delete;
    RequestSnapshot& operator=(const RequestSnapshot&) = delete;

    CacheKey key;
    std::string method;
    std::string host;       // for origins: as the key has it
    std::string text;       // "Name: value\r\n" each
    std::string forwarded;  // the same of those that are for origins alone: is_forwarded_field()
    std::vector<Field> fields;
};

/// The head of a request, empty line included.
std::string origin_request(const RequestSnapshot& request, std::string_view node,
                           std::string_view extra_lines);

}  // namespace proxy
