// Heads and bodies as they come from the network.

#include "proxy/http/cache_key.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/http2_head.hpp"
#include "proxy/http/mended_head.hpp"
#include "proxy/http/merge_304.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/http/range.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/http/vary.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace proxy;

namespace {

using http_field = boost::beast::http::field;

// Small, so that inputs reach them.
constexpr HeadLimits kLimits{.request_line_bytes = 256, .head_bytes = 1024, .lines = 16};

constexpr WallTime kNow{std::chrono::seconds(1'800'000'000)};

/// The same end must be found when the bytes come in pieces.
std::size_t head_end(std::string_view text) {
    std::size_t scanned = 0;
    const auto end = find_head_end(text, scanned);
    FUZZ_CHECK(end <= text.size());
    for (const std::size_t step : {1, 3}) {
        std::size_t piecewise = 0, found = 0;
        for (std::size_t at = 0; found == 0 && at < text.size();) {
            at = std::min(at + step, text.size());
            found = find_head_end(text.substr(0, at), piecewise);
            FUZZ_CHECK(piecewise <= at);
        }
        FUZZ_CHECK(found == end);
    }
    return end;
}

void check_fields(const Head& head, std::string_view text, bool of_request) {
    FUZZ_CHECK(head.fields.size() <= kLimits.lines);
    for (const auto& field : head.fields) {
        FUZZ_CHECK(inside(field.name, text) && inside(field.value, text));
        FUZZ_CHECK(is_token(field.name));
        FUZZ_CHECK(trim(field.value) == field.value);
        FUZZ_CHECK(std::none_of(field.value.begin(), field.value.end(), [](char c) {
            return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
        }));
    }
    // RFC 9112 §6.3: one framing, and one length.
    const auto* coding = find(head.fields, http_field::transfer_encoding);
    const auto* length = find(head.fields, http_field::content_length);
    FUZZ_CHECK(!coding || (!length && (!of_request || head.version == 11)));
}

std::string rendered_fields(const Head& head) {
    std::string text;
    for (const auto& field : head.fields) {
        text.append(field.name).append(":").append(field.value).append("\r\n");
    }
    return text + "\r\n";
}

/// A head written again from its parts is the same head.
template <bool IsRequest>
void check_same(const Head& head, const std::string& start_line) {
    const auto text = start_line + rendered_fields(head);
    Head again;
    MessageParser<IsRequest> parser(again, kLimits);
    const auto error = parser.parse_head(text);
    FUZZ_CHECK(error == ParseError::ok || text.size() > kLimits.head_bytes);
    if (error != ParseError::ok) return;
    FUZZ_CHECK(again.method == head.method && again.target == head.target);
    FUZZ_CHECK(again.status == head.status && again.version == head.version);
    FUZZ_CHECK(again.fields.size() == head.fields.size());
    for (std::size_t i = 0; i < head.fields.size(); ++i) {
        FUZZ_CHECK(again.fields[i].id == head.fields[i].id);
        FUZZ_CHECK(again.fields[i].name == head.fields[i].name);
        FUZZ_CHECK(again.fields[i].value == head.fields[i].value);
    }
}

bool same_lines(const std::vector<Field>& a, const std::vector<Field>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Field& x, const Field& y) {
        return x.name == y.name && x.value == y.value;
    });
}

/// Beast takes a plain head, too, with the same parts.
template <bool IsRequest>
void check_plain(std::string_view text) {
    Head plain, head;
    const auto framing = split_plain_head<IsRequest>(text, kLimits, plain);
    if (!framing) return;
    BeastParser<IsRequest> parser(head, kLimits);
    FUZZ_CHECK(parser.parse_head(text) == ParseError::ok);
    FUZZ_CHECK(plain.method == head.method && plain.target == head.target);
    FUZZ_CHECK(plain.status == head.status && plain.reason == head.reason);
    FUZZ_CHECK(plain.verb == head.verb && plain.version == head.version);
    FUZZ_CHECK(same_lines(plain.fields, head.fields));
    FUZZ_CHECK(parser.keep_alive() == framing->keep_alive && !parser.chunked());
    FUZZ_CHECK(parser.content_length().has_value() == framing->length.has_value());
    if (framing->length) FUZZ_CHECK(*parser.content_length() == *framing->length);
}

/// Takes the head at the front of the text, or the whole text as if it were one.
template <bool IsRequest>
std::optional<Head> parse(std::string_view text) {
    const auto end = head_end(text);
    if (end != 0) text = text.substr(0, end);
    check_plain<IsRequest>(text);
    Head head;
    MessageParser<IsRequest> parser(head, kLimits);
    if (parser.parse_head(text) != ParseError::ok) return std::nullopt;
    FUZZ_CHECK(end != 0);
    FUZZ_CHECK(inside(head.method, text) && inside(head.target, text));
    check_fields(head, text, IsRequest);
    return head;
}

void check_response_rules(const Head& head) {
    const auto& fields = head.fields;
    const auto freshness = freshness_of(head.status, fields, kNow, kNow, {});
    FUZZ_CHECK(freshness.lifetime >= StoredSeconds(0) && freshness.initial_age >= StoredSeconds(0));
    FUZZ_CHECK(current_age(freshness, kMaxDelta) <= kMaxDelta);
    const auto names = vary_names(fields);
    const auto verdict = storage_verdict({}, {}, head.status, fields, response_directives(fields),
                                         names, freshness, {});
    FUZZ_CHECK(verdict != StorageVerdict::store || names != kVaryAny);
    FUZZ_CHECK(!content_range(fields) || find(fields, http_field::content_range));

    const StoredFields stored(fields, {});
    const HopByHop stops_here(fields);
    for (const auto& field : fields) FUZZ_CHECK(!(stored(field) && stops_here(field)));

    const auto once = merge_304(fields, fields);
    FUZZ_CHECK(same_lines(merge_304(once, fields), once));
}

/// RFC 9112 §7.1, as plainly as it can be written; chunk extensions and trailers may hold anything
/// here. Nothing when the text does not begin with a whole chunked body.
struct ChunkedBody {
    std::string body;
    std::size_t consumed = 0;
};
std::optional<ChunkedBody> decode_plainly(std::string_view text) {
    ChunkedBody out;
    const auto line = [&]() -> std::optional<std::string_view> {
        const auto end = text.find("\r\n", out.consumed);
        if (end == std::string_view::npos) return std::nullopt;
        const auto found = text.substr(out.consumed, end - out.consumed);
        out.consumed = end + 2;
        return found;
    };
    for (;;) {
        const auto head = line();
        if (!head) return std::nullopt;
        std::uint64_t size = 0;
        std::size_t digits = 0;
        for (; digits < head->size(); ++digits) {
            const char c = (*head)[digits];
            const int value = c >= '0' && c <= '9'   ? c - '0'
                              : c >= 'a' && c <= 'f' ? c - 'a' + 10
                              : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                     : -1;
            if (value < 0) break;
            if (size >> 59 != 0) return std::nullopt;
            size = size * 16 + static_cast<std::uint64_t>(value);
        }
        if (digits == 0) return std::nullopt;
        const auto after = trim(head->substr(digits));
        if (!after.empty() && after.front() != ';') return std::nullopt;
        if (size == 0) break;
        if (text.size() - out.consumed < size) return std::nullopt;
        out.body.append(text.substr(out.consumed, size));
        out.consumed += size;
        if (text.substr(out.consumed, 2) != "\r\n") return std::nullopt;
        out.consumed += 2;
    }
    for (;;) {  // trailers
        const auto trailer = line();
        if (!trailer) return std::nullopt;
        if (trailer->empty()) return out;
    }
}

struct ParsedBody {
    bool broken = false, done = false;
    std::string body;
    std::size_t consumed = 0;
};
ParsedBody parse_body(std::string_view text, std::size_t step) {
    const std::string_view head_text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    Head head;
    ResponseParser parser(head, kLimits);
    FUZZ_CHECK(parser.parse_head(head_text) == ParseError::ok);
    ParsedBody out;
    auto sink = [&](std::string_view piece) {
        FUZZ_CHECK(inside(piece, text));
        out.body.append(piece);
    };
    for (std::size_t at = 0; at < text.size() && !parser.is_done();) {
        at = std::min(at + step, text.size());
        const auto input = text.substr(out.consumed, at - out.consumed);
        const auto used = parser.parse_body(input, sink);
        if (!used) {
            out.broken = true;
            return out;
        }
        FUZZ_CHECK(*used <= input.size());
        out.consumed += *used;
    }
    out.done = parser.is_done();
    return out;
}

/// Right text stays as it is, and mended text is right, or wrong for another reason.
std::string mend(std::string_view text) {
    const std::string strict(text.substr(0, head_end(text)));
    auto mended = strict;
    if (mend_response_head(mended) != ParseError::ok) {
        FUZZ_CHECK(!parse<false>(strict));
        return {};
    }
    FUZZ_CHECK(!parse<false>(strict) || mended == strict);
    FUZZ_CHECK(head_end(mended) == mended.size());
    auto again = mended;
    FUZZ_CHECK(mend_response_head(again) == ParseError::ok && again == mended);
    return mended;
}

}  // namespace

int fuzz_request_head(const std::uint8_t* data, std::size_t size) {
    const auto head = parse<true>(as_text(data, size));
    if (!head) return 0;
    FUZZ_CHECK(is_token(head->method) && !head->target.empty());
    FUZZ_CHECK(std::none_of(head->target.begin(), head->target.end(), [](char c) {
        return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f;
    }));
    const auto hosts = std::count_if(head->fields.begin(), head->fields.end(),
                                     [](const Field& f) { return f.id == http_field::host; });
    FUZZ_CHECK(hosts == 1 || (hosts == 0 && head->version == 10));
    FUZZ_CHECK(head->version == 10 || head->version == 11);

    std::string line(head->method);
    line.append(" ").append(head->target).append(head->version == 11 ? " HTTP/1.1" : " HTTP/1.0");
    check_same<true>(*head, line + "\r\n");

    const auto shielded = request_directives(head->fields, ClientDirectives::shield);
    FUZZ_CHECK(!shielded.no_cache && !shielded.max_age && !shielded.min_fresh);
    FUZZ_CHECK(range_request(head->fields).single() ||
               evaluate(range_request(head->fields), 9).kind == RangeAnswer::Kind::whole);
    return 0;
}

/// Lines of name and value, as HPACK gives them. A head that is accepted is exactly one request of
/// HTTP/1.1.
int fuzz_http2_head(const std::uint8_t* data, std::size_t size) {
    auto rest = as_text(data, size);
    Http2Head lines;
    while (!rest.empty()) {
        auto line = cut(rest, '\xff');
        const auto name = cut(line, '=');
        lines.add(name, line, {});
    }
    Head head;
    if (lines.finish(head) != ParseError::ok) return 0;
    std::string text(head.method);
    text.append(" ").append(head.target).append(" HTTP/1.1\r\n");
    for (const auto& field : head.fields)
        text.append(field.name).append(": ").append(field.value).append("\r\n");
    text.append("\r\n");
    std::size_t scanned = 0;
    FUZZ_CHECK(find_head_end(text, scanned) == text.size());
    Head again;
    RequestParser parser(again, {});
    FUZZ_CHECK(parser.parse_head(text) == ParseError::ok);
    FUZZ_CHECK(again.method == head.method && again.target == head.target);
    FUZZ_CHECK(again.fields.size() == head.fields.size());
    for (std::size_t i = 0; i < head.fields.size(); ++i)
        FUZZ_CHECK(again.fields[i].name == head.fields[i].name &&
                   again.fields[i].value == head.fields[i].value);
    return 0;
}

int fuzz_response_head(const std::uint8_t* data, std::size_t size) {
    const auto mended = mend(as_text(data, size));
    const auto head = parse<false>(mended);
    if (!head) return 0;
    FUZZ_CHECK(head->status >= 100 && head->status <= 599);
    const std::string version = head->version == 11 ? "HTTP/1.1 " : "HTTP/1.0 ";
    check_same<false>(*head, version + std::to_string(head->status) + " x\r\n");
    check_response_rules(*head);
    return 0;
}

/// The first byte selects the pieces in which the rest comes.
int fuzz_chunked_body(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const auto text = as_text(data + 1, size - 1);
    const auto whole = parse_body(text, std::max<std::size_t>(text.size(), 1));
    const auto pieces = parse_body(text, data[0] % 16 + 1u);
    FUZZ_CHECK(whole.broken == pieces.broken && whole.done == pieces.done);
    const auto plain = decode_plainly(text);
    if (whole.broken) return 0;
    FUZZ_CHECK(whole.consumed == pieces.consumed && whole.body == pieces.body);
    FUZZ_CHECK(whole.done == plain.has_value());
    if (plain) FUZZ_CHECK(plain->body == whole.body && plain->consumed == whole.consumed);
    return 0;
}
