#include "proxy/rewrite/tag_mark.hpp"

namespace proxy {
namespace {

constexpr std::string_view kWeak = "W/";
constexpr std::string_view kKept = "-r", kWeakened = "-w";

/// `tag` with `infix` and the mark before its last quote.
std::string with_mark(std::string_view tag, std::string_view infix, std::string_view mark) {
    const auto quoted = tag.size() > 1 && tag.ends_with('"');
    std::string out(quoted ? tag.substr(0, tag.size() - 1) : tag);
    out.append(infix).append(mark);
    if (quoted) out.push_back('"');
    return out;
}

}  // namespace

std::string marked_tag(std::string_view tag, std::string_view mark, bool recoded) {
    const auto weakens = recoded && tag.starts_with('"');
    if (!weakens) return with_mark(tag, kKept, mark);
    return std::string(kWeak).append(with_mark(tag, kWeakened, mark));
}

bool has_mark(std::string_view tag, std::string_view mark) {
    if (tag.ends_with('"')) tag.remove_suffix(1);
    if (!tag.ends_with(mark)) return false;
    tag.remove_suffix(mark.size());
    return tag.ends_with(kKept) || tag.ends_with(kWeakened);
}

std::string tags_for_origin(std::string_view text, std::string_view mark) {
    std::string out(text);
    for (const auto infix : {kKept, kWeakened}) {
        const auto suffix = std::string(infix).append(mark);
        for (auto at = out.find(suffix); at != std::string::npos; at = out.find(suffix, at)) {
            const auto end = at + suffix.size();
            const auto ends_tag =
                end == out.size() || out[end] == '"' || out[end] == ',' || out[end] == '\r';
            if (!ends_tag) {
                at = end;
                continue;
            }
            out.erase(at, suffix.size());
            if (infix == kKept || at == 0) continue;
            const auto quote = out.rfind('"', at - 1);
            if (quote == std::string::npos || quote < kWeak.size()) continue;
            if (out.compare(quote - kWeak.size(), kWeak.size(), kWeak) != 0) continue;
            out.erase(quote - kWeak.size(), kWeak.size());
            at -= kWeak.size();
        }
    }
    return out;
}

std::string tag_of_304(std::string_view tag, std::string_view sent, std::string_view mark) {
    const auto opaque = tag.starts_with(kWeak) ? tag.substr(kWeak.size()) : tag;
    if (sent.find(with_mark(opaque, kWeakened, mark)) != std::string_view::npos)
        return std::string(kWeak).append(with_mark(opaque, kWeakened, mark));
    if (sent.find(with_mark(opaque, kKept, mark)) != std::string_view::npos)
        return with_mark(tag, kKept, mark);
    return std::string(tag);
}

}  // namespace proxy
