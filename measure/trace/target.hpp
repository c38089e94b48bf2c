#pragma once

#include <optional>
#include <ostream>  // for <boost/beast/http/verb.hpp>
#include <string_view>

#include "proxy/http/cache_key.hpp"

namespace measure {

/// Longest URL that is replayed. The proxies refuse request lines over 16 KiB.
inline constexpr std::size_t kMaxUrlBytes = 16'000;

inline constexpr std::string_view kHttpsUrl = "https: URL, which cannot be asked for in plain HTTP";
inline constexpr std::string_view kForeignScheme = "neither http: nor https: URL";

/// Decides which logged URLs can be sent, byte for byte, as request targets in plain HTTP. Only
/// URLs that every proxy would misread are refused. Real logs contain `|`, `{`, `\`, `"` and bytes
/// over 0x7f, and proxies receive them. One thread; reuses its memory.
class TargetCheck {
public:
    /// Returns the reason why an absolute URL cannot be sent, or nothing if it can.
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
