#include "app/short_names.hpp"

#include <algorithm>

namespace app {
namespace {

constexpr std::string_view kSeparators = "-._:";

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// A cut at `at` would split a number and its unit, or show the end of a number with dots.
bool is_in_number(std::string_view text, std::size_t at) {
    constexpr std::string_view kInside = ".,";
    const auto before = text[at - 1];
    return is_digit(before) || (is_digit(text[at]) && kInside.find(before) != kInside.npos);
}

std::size_t common_begin(const std::set<std::string>& names) {
    // The first and the last in order differ where any two do.
    const auto& first = *names.begin();
    const auto& last = *names.rbegin();
    const auto end = std::min(first.size(), last.size());
    std::size_t same = 0;
    while (same < end && first[same] == last[same]) ++same;
    return same;
}

std::size_t common_end(const std::set<std::string>& names) {
    std::set<std::string> reversed;
    for (const auto& name : names) reversed.emplace(name.rbegin(), name.rend());
    return common_begin(reversed);
}

bool fit(const ShortNames& names, std::size_t most) {
    return std::ranges::all_of(names, [&](const auto& each) { return each.second.size() <= most; });
}

}  // namespace

std::string cut_text(std::string_view text, std::size_t most) {
    constexpr std::string_view kMark = "..";
    if (text.size() <= most) return std::string(text);
    const auto mark = most > kMark.size() ? kMark : std::string_view();
    auto end = most - mark.size();
    while (end > 0 && is_in_number(text, end)) --end;
    return std::string(text.substr(0, end)).append(mark);
}

ShortNames short_names(const std::set<std::string>& names, std::size_t most) {
    ShortNames all;
    for (const auto& name : names) all[name] = name;
    if (fit(all, most)) return all;
    if (names.size() > 1) {
        const auto& one = *names.begin();
        auto begin = common_begin(names), end = common_end(names);
        while (begin > 0 && kSeparators.find(one[begin - 1]) == std::string_view::npos) --begin;
        while (end > 0 && kSeparators.find(one[one.size() - end]) == std::string_view::npos) --end;
        for (auto& [name, text] : all)
            if (begin + end < name.size()) text = name.substr(begin, name.size() - begin - end);
    }
    std::set<std::string> different;
    for (auto& [name, text] : all) different.insert(text = cut_text(text, most));
    if (different.size() == names.size()) return all;
    std::size_t number = 0;
    for (auto& [name, text] : all) text = "#" + std::to_string(++number);
    return all;
}

}  // namespace app
