#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/top_data.hpp"

namespace app {

/// The room for a picture, in characters.
struct TopSize {
    std::size_t columns = 100;
    std::size_t rows = 0;  ///< 0: as many as there is to show
    bool color = false;    ///< with escape sequences for colours
};

/// Returns the lines of the picture: totals, nodes, the hits that each node gave each other, most
/// requested URLs. No line is wider than `columns`, and there are `rows` lines at most. Pure.
/// `trouble`: a sentence about numbers that are old, or empty.
std::vector<std::string> top_lines(const TopData& data, const TopSize& size,
                                   const std::string& trouble = {});

/// Returns the bytes that turn the screen from the lines `shown` into `lines`: the changed lines
/// alone, each at its place. `anew`: clears the screen first. Empty without a change.
std::string top_frame(const std::vector<std::string>& shown, const std::vector<std::string>& lines,
                      bool anew);

}  // namespace app
