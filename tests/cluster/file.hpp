#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/cluster/scripted_origin.hpp"

namespace proxy::test {

inline std::string bytes(std::size_t count, unsigned seed = 1) {
    std::string result(count, '\0');
    for (std::size_t i = 0; i < count; ++i)
        result[i] = static_cast<char>('a' + (i * 7 + i / 26 + seed) % 26);
    return result;
}

inline constexpr std::size_t kBlock = 4096;

/// The Range of each request that the origin has seen; `-` for none.
using Asked = std::vector<std::string>;
inline Asked ranges_asked(const ScriptedOrigin& origin) {
    Asked result;
    for (const auto& head : origin.heads()) {
        const auto range = field_of(head, "Range");
        result.push_back(range.empty() ? "-" : range);
    }
    return result;
}

/// An origin's file: one version of it, served whole or in ranges.
struct File {
    std::string content;
    std::string etag = "\"v1\"";
    std::string more = "Cache-Control: max-age=1000\r\n";

    void answer(Exchange& e) const {
        const auto fields = "ETag: " + etag + "\r\nAccept-Ranges: bytes\r\n" + more;
        const auto range = e.field("Range");
        const auto condition = e.field("If-Range");
        const auto none_match = e.field("If-None-Match");
        if (!none_match.empty() && none_match == etag) {
            e.send("HTTP/1.1 304 Not Modified\r\n" + fields + "\r\n");
        } else if (range.empty() || (!condition.empty() && condition != etag)) {
            e.answer(fields, content);
        } else {
            const auto first = std::strtoull(range.c_str() + 6, nullptr, 10);
            const auto dash = range.find('-');
            auto last = dash + 1 < range.size() ? std::strtoull(&range[dash + 1], nullptr, 10)
                                                : content.size() - 1;
            const auto total = std::to_string(content.size());
            if (first >= content.size()) {
                e.answer("Content-Range: bytes */" + total + "\r\n", "", "416 No Such Range");
                return;
            }
            last = std::min<unsigned long long>(last, content.size() - 1);
            e.answer(fields + "Content-Range: bytes " + std::to_string(first) + '-' +
                         std::to_string(last) + '/' + total + "\r\n",
                     content.substr(first, last - first + 1), "206 Partial Content");
        }
    }
};

}  // namespace proxy::test
