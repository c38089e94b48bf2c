#pragma once

#include "proxy/config/config.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace proxy {

/// `1.5s`, `50ms`: a decimal number and one of ns us ms s m h d. Empty for any other text, or one
/// out of range.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);
/// A number of seconds.
std::optional<std::chrono::nanoseconds> duration_of_seconds(double seconds);
/// In the largest unit that keeps it a whole number.
std::string format_duration(std::chrono::nanoseconds duration);

/// `512MiB`: a decimal number and one of B KB MB GB TB KiB MiB GiB TiB, in bytes.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// The units that sizes and durations are written with, for messages: `TiB, GiB, MiB`.
std::string size_units();
std::string duration_units();
std::string format_size(std::uint64_t bytes);

/// `host:port`, `[::1]:port`, with a port from 1 to 65535. A missing port becomes `default_port`,
/// if that is not 0. Empty for any other text.
std::optional<HostPort> parse_host_port(std::string_view text, std::uint16_t default_port = 0);

/// Replaces each `${NAME}` by its value; `$${` stands for `${`. `error` names a fault and never
/// shows a value.
struct Expansion {
    std::string text;
    std::string error;
};
Expansion expand_environment(std::string_view text, const Environment& environment);

/// True for a `$NAME` in capitals, which may be meant as a variable.
bool has_bare_variable(std::string_view text);

/// Insertions, deletions, substitutions and swaps of neighbours between two names.
/// The time grows with the product of their sizes.
std::size_t edit_distance(std::string_view a, std::string_view b);
/// The known name nearest to `name`; empty when none is near.
std::string_view nearest_name(std::string_view name, std::span<const std::string> known);

}  // namespace proxy
