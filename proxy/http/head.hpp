#pragma once

#include <boost/beast/http/field.hpp>
#include <boost/beast/http/verb.hpp>
#include <cstddef>
#include <optional>
#include <ostream>  // Beast's verb.hpp needs it and lacks the include
#include <string_view>
#include <vector>

#include "proxy/http/fields.hpp"

namespace proxy {

struct HeadLimits {
    std::size_t request_line_bytes = 16 * 1024;
    std::size_t head_bytes = 64 * 1024;
    std::size_t lines = 200;
};

/// A parsed head. Views point into the parsed buffer, and live as long as its bytes stay in place.
/// `fields` keeps order, duplicates and spelling as received.
struct Head {
    boost::beast::http::verb verb = boost::beast::http::verb::unknown;  // requests
    std::string_view method;
    std::string_view target;
    unsigned status = 0;  // responses
    std::string_view reason;
    int version = 11;  // 10, 11 or 20
    std::vector<Field> fields;

    /// The first value of a field, or an empty view.
    std::optional<std::string_view> get(boost::beast::http::field id) const {
        for (const auto& field : fields)
            if (field.id == id) return field.value;
        return std::nullopt;
    }
};

}  // namespace proxy
