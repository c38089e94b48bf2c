#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace measure {

/// Returns the first fault in the nesting of elements, or an empty string. Accepts the void
/// elements of HTML and elements that close themselves.
inline std::string unbalanced(std::string_view text) {
    std::vector<std::string> open;
    for (std::size_t at = text.find('<'); at != text.npos; at = text.find('<', at)) {
        const auto end = text.find('>', at);
        if (end == text.npos) return "a tag has no end";
        const auto tag = text.substr(at + 1, end - at - 1);
        at = end;
        if (tag.starts_with('!') || tag.ends_with('/')) continue;
        const bool closes = tag.starts_with('/');
        const std::string name(tag.substr(closes, tag.find_first_of(" \n") - closes));
        if (name == "meta" || name == "br") continue;
        if (!closes) {
            open.push_back(name);
        } else if (open.empty() || open.back() != name) {
            return "</" + name + "> closes " + (open.empty() ? "nothing" : open.back());
        } else {
            open.pop_back();
        }
    }
    return open.empty() ? "" : open.back() + " stays open";
}

}  // namespace measure
