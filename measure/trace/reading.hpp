#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace measure {

inline constexpr std::size_t kExamples = 3;  // for each reason

/// The lines that were read of a log, and those that were left out, by reason. Every report begins
/// with this account.
struct Reading {
    std::uint64_t lines = 0;                       ///< lines apart from comments and blank lines
    std::map<std::string, std::uint64_t> skipped;  ///< lines left out, by reason
    /// The first lines left out for each reason: "line 7: ..." with personal details masked.
    std::map<std::string, std::vector<std::string>> examples;
    /// Skipped lines that may have been requests like the ones taken. Their content is uncertain,
    /// so they could change the result.
    std::uint64_t in_doubt = 0;
    std::uint64_t out_of_order = 0;  ///< requests logged after a later one

    /// Counts a line that is left out. Returns true if add_example() is to be called for it.
    bool leave_out(std::string_view why);
    /// `number` counts from 1. `shown` is free of personal details.
    void add_example(std::string_view why, std::uint64_t number, const std::string& shown);
};

}  // namespace measure
