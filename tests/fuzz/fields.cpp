// Values of single fields, and the rules that read several of them.

#include "protocol/wire/keys.hpp"
#include "proxy/http/cache_control.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/http/hashed_fields.hpp"
#include "proxy/http/http_date.hpp"
#include "proxy/http/range.hpp"
#include "proxy/http/selecting_fields.hpp"
#include "proxy/http/structured_field.hpp"
#include "proxy/http/vary.hpp"
#include "proxy/telemetry/trace_context.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/proxy/http/head.hpp"

#include <algorithm>
#include <array>
#include <string>

using namespace proxy;
using proxy::test::Head;

namespace {

constexpr WallTime kNow{std::chrono::seconds(1'800'000'000)};

/// Without the bytes that the message parser lets into no field.
std::string field_text(std::string_view text) {
    std::string out(text);
    std::erase_if(out, [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n') || c == 0x7f;
    });
    return out;
}

/// `Name: line` for each line of the text.
std::string named(std::string_view name, std::string_view lines) {
    std::string out;
    while (!lines.empty()) out.append(name).append(": ").append(cut(lines, '\n')).append("\n");
    return out;
}

bool same(const DeltaDirective& a, const DeltaDirective& b) {
    return a.state == b.state && a.value == b.value;
}

bool same(const ResponseDirectives& a, const ResponseDirectives& b) {
    return a.no_store == b.no_store && a.no_cache == b.no_cache && a.is_private == b.is_private &&
           a.is_public == b.is_public && a.must_revalidate == b.must_revalidate &&
           a.proxy_revalidate == b.proxy_revalidate && a.must_understand == b.must_understand &&
           a.no_transform == b.no_transform && a.immutable == b.immutable &&
           a.targeted == b.targeted && iequals(a.no_cache_fields, b.no_cache_fields) &&
           iequals(a.private_fields, b.private_fields) && same(a.max_age, b.max_age) &&
           same(a.s_maxage, b.s_maxage) &&
           same(a.stale.while_revalidate, b.stale.while_revalidate) &&
           same(a.stale.if_error, b.stale.if_error);
}

void check_delta(const DeltaDirective& delta) {
    FUZZ_CHECK(delta.value >= std::chrono::seconds(0) && delta.value <= kMaxDelta);
    FUZZ_CHECK(delta.given() || delta.value == std::chrono::seconds(0));
}

void check_response_directives(const std::string& lines) {
    const CacheRules untargeted{.cdn_cache_control = false};
    const auto head = named("Cache-Control", lines);
    const Head fields(head);
    const auto found = response_directives(fields);
    for (const auto& delta :
         {found.max_age, found.s_maxage, found.stale.while_revalidate, found.stale.if_error}) {
        check_delta(delta);
    }
    // Letter case means nothing, and several lines mean the same as one line does unless a quote
    // stays open.
    std::string upper = lines;
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    FUZZ_CHECK(same(found, response_directives(Head(named("CACHE-CONTROL", upper)))));
    if (lines.find('"') == std::string::npos) {
        auto joined = lines;
        std::replace(joined.begin(), joined.end(), '\n', ',');
        FUZZ_CHECK(same(found, response_directives(Head(named("Cache-Control", joined)))));
    }
    // A directive that forbids is found at every place.
    FUZZ_CHECK(response_directives(Head(head + "Cache-Control: no-store")).no_store);

    const auto cdn = named("CDN-Cache-Control", lines);
    const Head strict(cdn + "Cache-Control: no-store, max-age=1");
    const auto targeted = response_directives(strict);
    if (targeted.targeted) {
        FUZZ_CHECK(same(targeted, response_directives(Head(cdn + "Cache-Control: public"))));
        check_delta(targeted.max_age);
    } else {
        FUZZ_CHECK(targeted.no_store && targeted.max_age.value == std::chrono::seconds(1));
    }
    FUZZ_CHECK(response_directives(strict, untargeted).no_store);
}

void check_request_directives(const std::string& lines) {
    const Head fields(named("Cache-Control", lines));
    const auto obeyed = request_directives(fields);
    for (const auto& span : {obeyed.max_age, obeyed.min_fresh, obeyed.max_stale}) {
        FUZZ_CHECK(!span || (*span >= std::chrono::seconds(0) && *span <= kMaxDelta));
    }
    const auto shielded = request_directives(fields, ClientDirectives::shield);
    FUZZ_CHECK(shielded.plain() && shielded.no_store == obeyed.no_store);
    FUZZ_CHECK(shielded.only_if_cached == obeyed.only_if_cached);
}

void append_value(std::string& out, const SfValue& value) {
    const std::string text(value.text);
    switch (value.type) {
        case SfType::boolean:
            out.append(value.number != 0 ? "?1" : "?0");
            break;
        case SfType::integer:
            out.append(std::to_string(value.number));
            break;
        case SfType::decimal: {
            const auto size = value.number < 0 ? -value.number : value.number;
            const auto thousandths = std::to_string(1000 + size % 1000).substr(1);
            out.append(value.number < 0 ? "-" : "").append(std::to_string(size / 1000));
            out.append(".").append(thousandths);
            break;
        }
        case SfType::date:
            out.append("@").append(std::to_string(value.number));
            break;
        case SfType::string:
            out.append("\"").append(text).append("\"");
            break;
        case SfType::token:
            out.append(text);
            break;
        case SfType::bytes:
            out.append(":").append(text).append(":");
            break;
        case SfType::inner_list:
            out.append("(").append(text).append(")");
            break;
    }
}

std::string canonical(const SfMember& member) {
    std::string out(member.key);
    if (!out.empty()) out.push_back('=');
    append_value(out, member.value);
    SfParameters parameters(member);
    while (const auto parameter = parameters.next()) {
        out.append(";").append(parameter->key).append("=");
        append_value(out, parameter->value);
    }
    return out;
}

std::vector<std::string> canonical(const SfMembers& members) {
    std::vector<std::string> out;
    for (const auto& member : members) out.push_back(canonical(member));
    return out;
}

void check_members(const std::string& lines, bool dictionary) {
    const auto read = [&](const Head& head) {
        return dictionary ? sf_dictionary(head, "f") : sf_list(head, "f");
    };
    const Head head(named("F", lines.empty() ? "\n" : lines));
    const auto members = read(head);
    if (!members) return;
    FUZZ_CHECK(members->size() <= kMaxSfMembers);
    const auto written = canonical(*members);
    std::string one_line = "F: ", many_lines;
    for (const auto& member : written) {
        one_line.append(one_line.size() > 3 ? ", " : "").append(member);
        many_lines.append("F: ").append(member).append("\n");
    }
    const Head one(one_line), many(many_lines);
    FUZZ_CHECK(canonical(*read(one)) == written);
    if (!written.empty()) FUZZ_CHECK(canonical(*read(many)) == written);
    for (const auto& member : *members) {
        if (dictionary) FUZZ_CHECK(find(*members, member.key) >= &member);
    }
}

std::string written(const RangeRequest& range) {
    switch (range.form) {
        case RangeRequest::Form::bounded:
            return "bytes=" + std::to_string(range.first) + "-" + std::to_string(range.last);
        case RangeRequest::Form::open:
            return "bytes=" + std::to_string(range.first) + "-";
        case RangeRequest::Form::suffix:
            return "bytes=-" + std::to_string(range.suffix);
        default:
            return "";
    }
}

void check_range(std::string_view value, std::uint64_t length) {
    const auto range = parse_range(value);
    const auto answer = evaluate(range, length);
    if (answer.kind == RangeAnswer::Kind::part) {
        FUZZ_CHECK(range.single());
        FUZZ_CHECK(answer.range.first <= answer.range.last && answer.range.last < length);
        FUZZ_CHECK(answer.range.size() <= length);
        std::string text;
        append_content_range(text, {answer.range, std::nullopt});
        FUZZ_CHECK(parse_content_range(text)->range == answer.range);
    }
    if (range.single()) {
        const auto again = evaluate(parse_range(written(range)), length);
        FUZZ_CHECK(again.kind == answer.kind && again.range == answer.range);
    } else {
        FUZZ_CHECK(answer.kind == RangeAnswer::Kind::whole);
    }
}

void check_content_range(std::string_view value) {
    const auto parsed = parse_content_range(value);
    if (!parsed) return;
    FUZZ_CHECK(parsed->range || parsed->length);
    if (parsed->range && parsed->length) FUZZ_CHECK(parsed->range->last < *parsed->length);
    std::string text;
    append_content_range(text, *parsed);
    FUZZ_CHECK(parse_content_range(text) == parsed);
}

constexpr std::array kMethods{boost::beast::http::verb::get, boost::beast::http::verb::options,
                              boost::beast::http::verb::post};

}  // namespace

int fuzz_cache_control(const std::uint8_t* data, std::size_t size) {
    const auto lines = field_text(as_text(data, size));
    check_response_directives(lines);
    check_request_directives(lines);
    return 0;
}

int fuzz_http_date(const std::uint8_t* data, std::size_t size) {
    const auto text = as_text(data, size);
    const auto time = parse_http_date(text, kNow);
    if (!time) return 0;
    FUZZ_CHECK(text.size() <= 33);  // Wednesday, 09-Nov-94 08:49:37 GMT
    std::string written;
    append_http_date(written, *time);
    FUZZ_CHECK(written.size() == 29);  // Sun, 06 Nov 1994 08:49:37 GMT
    // Only 31 December 9999 23:59:60 has no second form.
    if (written.substr(12, 4) == "9999") return 0;
    FUZZ_CHECK(parse_http_date(written, kNow) == time);
    return 0;
}

/// The first byte selects the kind of field of the rest.
int fuzz_structured_field(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const auto text = field_text(as_text(data + 1, size - 1));
    check_members(text, data[0] % 3 == 1);
    return 0;
}

/// Lines: Range, length, Content-Range, If-Range, ETag, Last-Modified, Date.
int fuzz_range(const std::uint8_t* data, std::size_t size) {
    const auto text = field_text(as_text(data, size));
    std::string_view rest = text;
    const auto range = cut(rest, '\n'), length = cut(rest, '\n'), content = cut(rest, '\n'),
               condition = cut(rest, '\n'), tag = cut(rest, '\n'), modified = cut(rest, '\n'),
               date = cut(rest, '\n');
    // No body is longer than the parser takes, 2^63 - 1.
    check_range(range, std::strtoull(std::string(length).c_str(), nullptr, 10) >> 1);
    check_content_range(content);

    const Validators stored{tag, modified, date};
    const Head request("If-Range: " + std::string(condition));
    const bool allowed = if_range_allows(request, stored, kNow);
    FUZZ_CHECK(!allowed || !condition.empty());
    FUZZ_CHECK(!allowed || !trim(condition).starts_with("W/"));
    if (allowed && trim(condition).starts_with('"')) FUZZ_CHECK(trim(condition) == tag);
    return 0;
}

/// Up to the first empty line Vary's lines, then two requests' fields, divided by one more.
/// One value in each line: together they are the fields of a request.
int fuzz_traceparent(const std::uint8_t* data, std::size_t size) {
    const auto text = field_text(as_text(data, size));
    const auto context = parse_traceparent(text);
    if (context) {
        FUZZ_CHECK(context->valid());
        std::string written;
        append_traceparent(written, *context);
        FUZZ_CHECK(written.size() == kTraceparentBytes);
        FUZZ_CHECK(parse_traceparent(written) == context);
        FUZZ_CHECK(std::string_view(text).substr(3, 49) == std::string_view(written).substr(3, 49));
    }
    const Head request(named("traceparent", text));
    const auto received = received_trace(request);
    if (received) FUZZ_CHECK(Fields(request).size() == 1);
    return 0;
}

int fuzz_vary(const std::uint8_t* data, std::size_t size) {
    const auto text = field_text(as_text(data, size));
    std::array<std::string, 3> parts;
    std::size_t part = 0;
    for (std::string_view rest = text; !rest.empty();) {
        const auto line = cut(rest, '\n');
        if (line.empty() && part + 1 < parts.size()) {
            ++part;
        } else {
            parts[part].append(line).append("\n");
        }
    }
    const Head response(named("Vary", parts[0])), a(parts[1]), b(parts[2]);
    const auto names = vary_names(response);
    FUZZ_CHECK(vary_names(Head("Vary: " + names)) == names);
    std::string of_a, of_b, scratch;
    append_variant(of_a, names, a);
    append_variant(of_b, names, b);
    const bool any = names == kVaryAny;
    FUZZ_CHECK(variant_matches(names, of_a, a, scratch) == !any);
    FUZZ_CHECK(variant_matches(names, of_a, b, scratch) == (!any && of_a == of_b));
    if (names.empty()) FUZZ_CHECK(of_a.empty());

    // A peer that knows b's fields by their hashes alone chooses alike.
    static const auto key = protocol::field_key("0123456789abcdef0123456789abcdef");
    const Fields fields(b);
    const bool tokens = std::all_of(fields.begin(), fields.end(),
                                    [](const Field& line) { return is_token(line.name); });
    SelectingFields hashed(b);
    for (const auto& selecting : {names, std::string()}) {
        const FieldHasher hasher(key, "u");
        const auto sent = tokens ? hashed_fields(b, selecting, hasher) : std::nullopt;
        if (!sent) break;
        HashedFields hashes(*sent, hasher);
        hashed.hashed = &hashes;
        const auto matches = variant_matches(names, of_a, hashed, scratch);
        FUZZ_CHECK(!matches || (!any && of_a == of_b));
        FUZZ_CHECK(matches || any || of_a != of_b || !hashes.unknown_names().empty());
        FUZZ_CHECK(selecting.empty() || any || hashes.unknown_names().empty());
    }
    HashedFields nonsense(parts[2], FieldHasher(key, "u"));
    hashed.hashed = &nonsense;
    if (variant_matches(names, of_a, hashed, scratch)) FUZZ_CHECK(!any);
    return 0;
}

/// First byte: method and scheme; then lines: target, Host.
int fuzz_cache_key(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    auto rest = as_text(data + 1, size - 1);
    const auto target = cut(rest, '\n'), host = cut(rest, '\n');
    const auto method = kMethods[data[0] % kMethods.size()];
    const auto scheme = data[0] < 128 ? Scheme::http : Scheme::https;

    Authority authority;
    if (parse_authority(host, authority) == TargetError::none) {
        FUZZ_CHECK(!authority.host.empty() && inside(authority.host, host));
        Authority with_port;
        const bool port = parse_connect_target(host, with_port) == TargetError::none;
        FUZZ_CHECK(port == (authority.port != 0));
    }
    CacheKey key;
    if (key.assign(scheme, method, target, host) != TargetError::none) {
        FUZZ_CHECK(key.uri().empty());
        return 0;
    }
    const auto begin = std::string(to_string(key.scheme())) + "://";
    FUZZ_CHECK(key.uri() == begin + std::string(key.authority()).append(key.path()));
    FUZZ_CHECK(key.port() != 0 && key.authority().starts_with(key.host()));
    FUZZ_CHECK(std::none_of(key.host().begin(), key.host().end(),
                            [](char c) { return c >= 'A' && c <= 'Z'; }));
    if (key.path() == "*") return 0;
    // The forward form and the reverse form of a key are that key.
    CacheKey again;
    FUZZ_CHECK(again.assign(Scheme::http, method, key.uri(), "") == TargetError::none);
    FUZZ_CHECK(again.uri() == key.uri() && again.port() == key.port());
    if (key.path().starts_with('/')) {
        const auto error = again.assign(key.scheme(), method, key.path(), key.authority());
        FUZZ_CHECK(error == TargetError::none && again.uri() == key.uri());
    }
    return 0;
}
