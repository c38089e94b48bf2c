#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace measure {

inline constexpr std::size_t kExamples = 3;  // of each reason

/// What was read of a log, and what was left out and why: the account that every report of it
/// begins with.
struct Reading {
    std::uint64_t lines = 0;                       ///< comments and blank ones left out
    std::map<std::string, std::uint64_t> skipped;  ///< lines that are not taken, by reason
    /// The first of them, by the same reasons: "line 7: ..." with personal details masked.
    std::map<std::string, std::vector<std::string>> examples;
    /// Of the skipped ones those that may have been requests like the ones taken: of these nothing
    /// certain is known, so that they might change what the others say.
    std::uint64_t in_doubt = 0;
    std::uint64_t out_of_order = 0;  ///< requests that were logged after a later one

    /// Counts a line that is not taken. True when it is to be shown by add_example(), too.
    bool leave_out(std::string_view why);
    /// `number` counts from 1; `shown` holds no personal details.
    void add_example(std::string_view why, std::uint64_t number, const std::string& shown);
};

}  // namespace measure
