#include "proxy/http/range.hpp"

#include "base/text/number.hpp"
#include "proxy/http/field_list.hpp"

#include <algorithm>

namespace proxy {

namespace {

using http_field = boost::beast::http::field;

constexpr std::uint64_t kMaxPosition = std::numeric_limits<std::int64_t>::max();

enum class Overflow { saturate, refuse };

/// 1*DIGIT.
std::optional<std::uint64_t> parse_position(std::string_view text, Overflow overflow) {
    if (text.empty()) return std::nullopt;
    std::uint64_t value = 0;
    bool too_large = false;
    for (const char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        const auto digit = static_cast<std::uint64_t>(c - '0');
        too_large = too_large || value > (kMaxPosition - digit) / 10;
        if (!too_large) value = value * 10 + digit;
    }
    if (!too_large) return value;
    if (overflow == Overflow::refuse) return std::nullopt;
    return kMaxPosition;
}

/// Removes `bytes` and its separator. Unit names ignore letter case (RFC 9110 §14.1).
bool take_unit(std::string_view& text, char separator) {
    constexpr std::string_view kUnit = "bytes";
    if (text.size() <= kUnit.size() || text[kUnit.size()] != separator) return false;
    if (!iequals(text.substr(0, kUnit.size()), kUnit)) return false;
    text.remove_prefix(kUnit.size() + 1);
    return true;
}

std::optional<RangeRequest> parse_range_spec(std::string_view spec) {
    const auto dash = spec.find('-');
    if (dash == std::string_view::npos) return std::nullopt;
    const auto before = spec.substr(0, dash), after = spec.substr(dash + 1);
    const auto number = parse_position(after, Overflow::saturate);
    if (!number && !after.empty()) return std::nullopt;

    RangeRequest range;
    if (before.empty()) {
        if (!number) return std::nullopt;
        range.form = RangeRequest::Form::suffix;
        range.suffix = *number;
        return range;
    }
    const auto first = parse_position(before, Overflow::saturate);
    if (!first || (number && *number < *first)) return std::nullopt;
    range.form = number ? RangeRequest::Form::bounded : RangeRequest::Form::open;
    range.first = *first;
    range.last = number.value_or(0);
    return range;
}

}  // namespace

RangeRequest parse_range(std::string_view value) {
    // ListMembers skips white space at the start, which the grammar excludes.
    if (!take_unit(value, '=') || value.starts_with(' ') || value.starts_with('\t')) return {};
    RangeRequest range;
    ListMembers specs(value);
    while (const auto spec = specs.next()) {
        const auto parsed = parse_range_spec(*spec);
        if (!parsed) return {};
        const bool first = range.form == RangeRequest::Form::none;
        range = first ? *parsed : RangeRequest{.form = RangeRequest::Form::several};
    }
    return range;
}

RangeRequest range_request(Fields request) {
    RangeRequest range;
    bool seen = false;
    for (const auto& field : request) {
        if (field.id != http_field::range) continue;
        if (seen) return {};
        seen = true;
        range = parse_range(field.value);
    }
    return range;
}

RangeAnswer evaluate(const RangeRequest& request, std::uint64_t length) {
    using Kind = RangeAnswer::Kind;
    switch (request.form) {
        case RangeRequest::Form::none:
        case RangeRequest::Form::several:
            return {};
        case RangeRequest::Form::bounded:
        case RangeRequest::Form::open: {
            if (request.first >= length) return {Kind::unsatisfiable, {}};
            const bool open = request.form == RangeRequest::Form::open;
            const auto last = open ? length - 1 : std::min(request.last, length - 1);
            return {Kind::part, {request.first, last}};
        }
        case RangeRequest::Form::suffix:
            if (request.suffix == 0) return {Kind::unsatisfiable, {}};
            if (length == 0) return {};  // satisfiable, but Content-Range has no form for it
            return {Kind::part, {length - std::min(request.suffix, length), length - 1}};
    }
    return {};
}

namespace {

/// Adds a range, united with those that it overlaps.
void add_part(std::vector<ByteRange>& parts, ByteRange range) {
    auto place = parts.size();
    for (std::size_t i = 0; i < parts.size();) {
        const auto& other = parts[i];
        if (other.last < range.first || range.last < other.first) {
            ++i;
            continue;
        }
        range = {std::min(range.first, other.first), std::max(range.last, other.last)};
        place = std::min(place, i);
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
        i = 0;  // the larger range may overlap others
    }
    place = std::min(place, parts.size());
    parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(place), range);
}

}  // namespace

std::optional<std::vector<ByteRange>> evaluate_several(Fields request, std::uint64_t length) {
    auto value = only_value(request, http_field::range);
    if (!take_unit(value, '=')) return std::nullopt;
    std::vector<ByteRange> parts;
    std::size_t count = 0;
    ListMembers specs(value);
    while (const auto spec = specs.next()) {
        const auto parsed = parse_range_spec(*spec);
        if (!parsed || ++count > kMaxRanges) return std::nullopt;
        const auto answer = evaluate(*parsed, length);
        if (answer.kind == RangeAnswer::Kind::part) add_part(parts, answer.range);
    }
    return parts;
}

std::optional<ContentRange> parse_content_range(std::string_view value) {
    if (!take_unit(value, ' ')) return std::nullopt;
    const auto slash = value.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const auto positions = value.substr(0, slash), total = value.substr(slash + 1);

    ContentRange out;
    if (total != "*") {
        out.length = parse_position(total, Overflow::refuse);
        if (!out.length) return std::nullopt;
    }
    if (positions == "*") return out.length ? std::optional(out) : std::nullopt;

    const auto dash = positions.find('-');
    if (dash == std::string_view::npos) return std::nullopt;
    const auto first = parse_position(positions.substr(0, dash), Overflow::refuse);
    const auto last = parse_position(positions.substr(dash + 1), Overflow::refuse);
    if (!first || !last || *last < *first) return std::nullopt;
    if (out.length && *last >= *out.length) return std::nullopt;
    out.range = ByteRange{*first, *last};
    return out;
}

std::optional<ContentRange> content_range(Fields response) {
    return parse_content_range(only_value(response, http_field::content_range));
}

void append_content_range(std::string& out, const ContentRange& value) {
    out.append("bytes ");
    if (value.range) {
        base::append_number(out, value.range->first);
        out.push_back('-');
        base::append_number(out, value.range->last);
    } else {
        out.push_back('*');
    }
    out.push_back('/');
    if (value.length) {
        base::append_number(out, *value.length);
    } else {
        out.push_back('*');
    }
}

void append_range_request(std::string& out, std::uint64_t first, std::optional<std::uint64_t> last,
                          std::string_view version) {
    out.append("Range: bytes=");
    base::append_number(out, first);
    out.push_back('-');
    if (last) base::append_number(out, *last);
    out.append("\r\n");
    if (!version.empty()) out.append("If-Range: ").append(version).append("\r\n");
}

bool if_range_allows(Fields request, const Validators& stored, WallTime now) {
    if (!find(request, http_field::if_range)) return true;
    const auto condition = only_value(request, http_field::if_range);
    if (const auto tag = parse_entity_tag(condition)) {
        const auto ours = parse_entity_tag(stored.etag);
        return ours && strong_match(*tag, *ours);
    }
    const auto asked = parse_http_date(condition, now);
    const auto modified = parse_http_date(stored.last_modified, now);
    const auto sent = parse_http_date(stored.date, now);
    return asked && modified && sent && *asked == *modified &&
           *sent - *modified >= std::chrono::seconds(1);
}

}  // namespace proxy
