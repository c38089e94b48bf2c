#include "proxy/http/glob.hpp"

#include <cstddef>

namespace proxy {

Glob::Glob(std::string_view pattern) : pattern_(pattern) {
    for (std::size_t star = 0; star != std::string_view::npos;) {
        star = pattern.find('*');
        parts_.emplace_back(pattern.substr(0, star));
        if (star != std::string_view::npos) pattern.remove_prefix(star + 1);
    }
}

bool Glob::matches(std::string_view text) const {
    const std::string_view first = parts_.front(), last = parts_.back();
    if (is_literal()) return text == first;
    if (text.size() < first.size() + last.size() || !text.starts_with(first) ||
        !text.ends_with(last))
        return false;
    text = text.substr(first.size(), text.size() - first.size() - last.size());
    for (std::size_t i = 1; i + 1 < parts_.size(); ++i) {
        const auto at = text.find(parts_[i]);
        if (at == std::string_view::npos) return false;
        text.remove_prefix(at + parts_[i].size());
    }
    return true;
}

}  // namespace proxy
