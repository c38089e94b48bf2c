#include "app/short_names.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace app {
namespace {

constexpr std::string_view kSeparators = "-._:";
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kCutMark = "..";

bool is_digit(char c) {
    return kDigits.find(c) != std::string_view::npos;
}

/// The text at `at` and the text before it are parts of one number, or of a number and its unit.
bool splits_number(std::string_view text, std::size_t at) {
    if (at == 0 || at >= text.size()) return false;
    const auto is_part = [](char c) { return is_digit(c) || c == '.' || c == ',' || c == '%'; };
    const auto before = text[at - 1], after = text[at];
    if (is_digit(before)) return is_part(after) || (after >= 'A' && after <= 'z');
    return is_part(before) && is_digit(after);
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

/// Takes so many bytes from both ends. Nothing if a name would be empty.
std::optional<ShortNames> without_ends(const std::set<std::string>& names, std::size_t begin,
                                       std::size_t end) {
    ShortNames out;
    for (const auto& name : names) {
        if (begin + end >= name.size()) return std::nullopt;
        out[name] = name.substr(begin, name.size() - begin - end);
    }
    return out;
}

bool fit(const ShortNames& names, std::size_t most) {
    return std::ranges::all_of(names, [&](const auto& each) { return each.second.size() <= most; });
}

}  // namespace

std::string cut_text(std::string_view text, std::size_t most) {
    if (text.size() <= most) return std::string(text);
    const auto mark = most > kCutMark.size() ? kCutMark : std::string_view();
    auto end = most - mark.size();
    // `10..` would look like a number that is cut.
    while (end > 0 && (splits_number(text, end) || (!mark.empty() && is_digit(text[end - 1]))))
        --end;
    return std::string(text.substr(0, end)).append(mark);
}

ShortNames short_names(const std::set<std::string>& names, std::size_t most) {
    ShortNames all;
    for (const auto& name : names) all[name] = name;
    if (fit(all, most)) return all;
    if (names.size() > 1) {
        const auto& one = *names.begin();
        auto begin = common_begin(names), end = common_end(names);
        auto parts = begin;
        while (parts > 0 && kSeparators.find(one[parts - 1]) == std::string_view::npos) --parts;
        while (end > 0 && kSeparators.find(one[one.size() - end]) == std::string_view::npos) --end;
        while (begin > 0 && is_digit(one[begin - 1])) --begin;
        for (const auto each : {parts, begin})
            if (auto shorter = without_ends(names, each, end)) {
                all = std::move(*shorter);
                if (fit(all, most)) return all;
            }
    }
    std::set<std::string> different;
    for (auto& [name, text] : all) {
        text = cut_text(text, most);
        different.insert(text);
    }
    if (different.size() == names.size()) return all;
    std::size_t number = 0;
    for (auto& [name, text] : all) text = "#" + std::to_string(++number);
    return all;
}

}  // namespace app
