#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace measure {

/// What a page says about the run that made it.
struct PageFacts {
    std::string command;                ///< as a shell takes it; empty: the page leaves it out
    std::string version;                ///< of the program
    std::optional<std::uint64_t> seed;  ///< of a made-up workload
};

/// The begin of a page up to <body>. The page forbids its browser every request and every script.
/// `style` is CSS.
std::string page_begin(std::string_view title, std::string_view style);

/// A list of the facts. Empty without a command.
std::string facts_html(const PageFacts& facts);

/// The text, escaped (chart.hpp). A text that is longer than `most` bytes afterwards ends at the
/// last line, or else character, that has room, and `...` follows.
std::string clipped(std::string_view text, std::size_t most);

}  // namespace measure
