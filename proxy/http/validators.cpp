#include "proxy/http/validators.hpp"

#include "proxy/http/field_list.hpp"

#include <algorithm>
#include <array>

namespace proxy {

namespace {

using http_field = boost::beast::http::field;

/// etagc: any visible byte but the quote; no escapes (RFC 9110 §8.8.3).
bool is_tag_byte(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0x21 || (byte >= 0x23 && byte != 0x7f);
}

/// Marks at the end of a tag, by servers that compress on the fly.
constexpr std::array<std::string_view, 4> kCodingMarks{"-gzip", "-br", "-zstd", "-deflate"};

/// Whether `tag` is the other one with such a mark. Both have their quotes.
bool is_marked(std::string_view tag, std::string_view plain) {
    const auto stem = plain.substr(0, plain.size() - 1);
    if (stem.size() < 2 || !tag.starts_with(stem)) return false;
    auto mark = tag.substr(stem.size());
    mark.remove_suffix(1);
    if (mark.starts_with("--")) mark.remove_prefix(1);  // Jetty's
    return std::find(kCodingMarks.begin(), kCodingMarks.end(), mark) != kCodingMarks.end();
}

/// Removes the next member from a list of tags. A tag may contain commas and backslashes, which the
/// general list rules exclude. Empty at the end.
std::string_view take_tag(std::string_view& rest) {
    const auto begin = rest.find_first_not_of(" \t,");
    if (begin == std::string_view::npos) return {};
    rest.remove_prefix(begin);
    const std::size_t quote = rest.starts_with("W/\"") ? 2 : 0;
    auto end = std::string_view::npos;
    if (rest[quote] == '"') end = rest.find('"', quote + 1);
    end = end != std::string_view::npos ? end + 1 : std::min(rest.find(','), rest.size());
    const auto tag = trim(rest.substr(0, end));
    rest.remove_prefix(end);
    return tag;
}

/// Weak comparison. If one side is no entity tag, both texts have to be equal.
bool same_tag(std::string_view a, std::string_view b) {
    const auto tag_a = parse_entity_tag(a), tag_b = parse_entity_tag(b);
    return tag_a && tag_b ? weak_match(*tag_a, *tag_b) : a == b;
}

enum class NoneMatch { absent, matches, differs };

NoneMatch evaluate_none_match(Fields request, const Validators& stored) {
    auto result = NoneMatch::absent;
    for (const auto& field : request) {
        if (field.id != http_field::if_none_match) continue;
        result = NoneMatch::differs;
        if (field.value == "*") return NoneMatch::matches;
        auto rest = field.value;
        for (auto tag = take_tag(rest); !tag.empty(); tag = take_tag(rest)) {
            const auto ends = rest.find_first_not_of(" \t");
            const auto whole = ends == std::string_view::npos || rest[ends] == ',';
            if (whole && !stored.etag.empty() && same_tag(tag, stored.etag))
                return NoneMatch::matches;
        }
    }
    return result;
}

std::string_view tag_of(Fields response) {
    const auto tag = only_value(response, http_field::etag);
    const bool tag_bytes =
        std::all_of(tag.begin(), tag.end(), [](char c) { return c == '"' || is_tag_byte(c); });
    return tag_bytes && tag != "*" ? tag : std::string_view();
}

std::string_view date_of(Fields response, http_field id) {
    const auto text = only_value(response, id);
    // The century is irrelevant here.
    return parse_http_date(text, WallTime()) ? text : std::string_view();
}

}  // namespace

std::optional<EntityTag> parse_entity_tag(std::string_view text) {
    EntityTag tag;
    if (text.starts_with("W/")) {
        tag.weak = true;
        text.remove_prefix(2);
    }
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
    const auto inside = text.substr(1, text.size() - 2);
    if (!std::all_of(inside.begin(), inside.end(), is_tag_byte)) return std::nullopt;
    tag.opaque = text;
    return tag;
}

bool weak_match(const EntityTag& a, const EntityTag& b) {
    return a.opaque == b.opaque;
}

bool strong_match(const EntityTag& a, const EntityTag& b) {
    return !a.weak && !b.weak && a.opaque == b.opaque;
}

bool same_but_for_coding(const EntityTag& a, const EntityTag& b) {
    return is_marked(a.opaque, b.opaque) || is_marked(b.opaque, a.opaque);
}

bool Validators::strong() const {
    const auto tag = parse_entity_tag(etag);
    return tag && !tag->weak;
}

Validators validators_of(Fields response) {
    return {tag_of(response), date_of(response, http_field::last_modified),
            date_of(response, http_field::date)};
}

bool has_validator(Fields response) {
    return !tag_of(response).empty() || !date_of(response, http_field::last_modified).empty();
}

bool is_conditional(Fields request) {
    return std::any_of(request.begin(), request.end(), [](const Field& field) {
        return field.id == http_field::if_none_match || field.id == http_field::if_modified_since;
    });
}

bool is_condition_or_range(const Field& field) {
    switch (field.id) {
        case http_field::if_none_match:
        case http_field::if_modified_since:
        case http_field::if_match:
        case http_field::if_unmodified_since:
        case http_field::if_range:
        case http_field::range:
            return true;
        default:
            return false;
    }
}

bool answers_not_modified(Fields request, unsigned stored_status, const Validators& stored,
                          WallTime now) {
    if (stored_status != 200) return false;
    const auto none_match = evaluate_none_match(request, stored);
    if (none_match != NoneMatch::absent) return none_match == NoneMatch::matches;

    const auto since_text = only_value(request, http_field::if_modified_since);
    if (since_text.empty()) return false;
    const auto since = parse_http_date(since_text, now);
    const auto changed =
        parse_http_date(stored.last_modified.empty() ? stored.date : stored.last_modified, now);
    return since && changed && *changed <= *since;
}

void append_validation(std::string& out, const Validators& stored) {
    if (!stored.etag.empty()) out.append("If-None-Match: ").append(stored.etag).append("\r\n");
    if (!stored.last_modified.empty()) {
        out.append("If-Modified-Since: ").append(stored.last_modified).append("\r\n");
    }
}

bool belongs_in_304(const Field& field, bool has_etag) {
    switch (field.id) {
        case http_field::content_length:
        case http_field::content_type:
        case http_field::content_encoding:
        case http_field::content_language:
        case http_field::content_range:
        case http_field::content_md5:
            return false;
        case http_field::last_modified:
            return !has_etag;
        default:
            return true;
    }
}

}  // namespace proxy
