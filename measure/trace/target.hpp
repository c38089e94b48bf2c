#pragma once

#include <optional>
#include <ostream>  // what verb.hpp below needs
#include <string_view>

#include "proxy/http/cache_key.hpp"

namespace measure {

/// Longest URL that is replayed; the proxies refuse request lines over 16 KiB.
inline constexpr std::size_t kMaxUrlBytes = 16'000;

inline constexpr std::string_view kHttpsUrl = "https: URL, which cannot be asked for in plain HTTP";
inline constexpr std::string_view kForeignScheme = "neither http: nor https: URL";

/// Tells which logged URLs can go out, byte for byte, as request targets in plain HTTP. Only what
/// no proxy could understand is refused: real logs hold `|`, `{`, `\`, `"` and bytes over 0x7f, and
/// proxies see them. One thread; reuses its memory.
class TargetCheck {
public:
    /// Nothing when the (absolute) URL can be sent, else why not.
    std::optional<std::string_view> refuse(std::string_view url);

private:
    proxy::CacheKey key_;
};

/// The parts of a sendable absolute URL, as views into it.
struct SplitUrl {
    std::string_view authority;  ///< host and port as written
    std::string_view path;       ///< path and query as written; may be empty or begin with '?'
};
SplitUrl split_url(std::string_view url);

}  // namespace measure
