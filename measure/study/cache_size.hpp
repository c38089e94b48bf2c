#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace measure {

/// The size of the caches of a simulation: so many bytes each, or a share of the log's distinct
/// bytes that all caches split equally.
struct CacheSize {
    std::uint64_t bytes = 0;  // of each proxy; counts if `part` is 0
    double part = 0;          // of the distinct bytes

    /// Bytes of each of `proxies` caches; at least 1.
    std::uint64_t of_each(std::uint64_t distinct_bytes, std::size_t proxies) const;
    /// As on the command line: "10%", "64MiB".
    std::string text() const;
    bool operator==(const CacheSize&) const = default;
};

/// "10%" (above 0), "64MiB" (see proxy::parse_size, above 0).
std::optional<CacheSize> parse_cache_size(std::string_view text);

/// "1%" or "0.01", from 0 to 1.
std::optional<double> parse_part(std::string_view text);
/// 0.001 -> "0.1%".
std::string part_text(double part);

}  // namespace measure
