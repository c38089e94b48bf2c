#include "measure/origin/origin_request.hpp"

#include <algorithm>
#include <boost/beast/http/status.hpp>
#include <charconv>

#include "base/text/number.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/validators.hpp"

namespace measure {
namespace {

using boost::beast::http::field;
using boost::beast::http::verb;

constexpr proxy::WallTime kFirstModified{std::chrono::sys_days{std::chrono::year{2024} / 1 / 1}};
constexpr std::uint64_t kModifiedSpanSeconds = 300 * 86'400;

bool parse_number(std::string_view text, std::uint64_t& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return !text.empty() && error == std::errc{} && end == text.data() + text.size();
}

/// The wishes of a request, from its Hearsay-* fields.
struct AnswerOptions {
    std::uint64_t bytes = kDefaultBodyBytes;
    std::uint64_t max_age = kDefaultMaxAge.count();
    std::uint64_t delay_ms = 0;
};

/// Reads the wishes. Returns the name of a field with an invalid or too large value, or an empty
/// string.
std::string_view read_wishes(proxy::Fields fields, AnswerOptions& wishes) {
    struct KnownOption {
        std::string_view name;
        std::uint64_t& value;
        std::uint64_t limit;
    };
    const KnownOption known[] = {
        {"Hearsay-Bytes", wishes.bytes, kMaxBodyBytes},
        {"Hearsay-Max-Age", wishes.max_age, static_cast<std::uint64_t>(kLongestMaxAge.count())},
        {"Hearsay-Delay", wishes.delay_ms, static_cast<std::uint64_t>(kMaxDelay.count())}};
    for (const auto& line : fields) {
        if (line.id != field::unknown || line.name.size() < 13) continue;
        for (const auto& [name, value, limit] : known) {
            if (!proxy::iequals(line.name, name)) continue;
            if (!parse_number(line.value, value) || value > limit) return name;
        }
    }
    return {};
}

struct Part {
    std::uint64_t begin = 0, end = 0;  // half open
};
enum class RangeKind { whole, part, unsatisfiable };

/// RFC 9110 §14.1.2, one range only. Any other value selects the whole body, as §14.2 allows.
RangeKind parse_range(std::string_view text, std::uint64_t size, Part& part) {
    constexpr std::string_view kUnit = "bytes=";
    if (text.size() < kUnit.size() || !proxy::iequals(text.substr(0, kUnit.size()), kUnit)) {
        return RangeKind::whole;
    }
    text = proxy::trim(text.substr(kUnit.size()));
    const auto dash = text.find('-');
    if (dash == std::string_view::npos) return RangeKind::whole;
    const auto first = text.substr(0, dash), last = text.substr(dash + 1);
    std::uint64_t from = 0, to = 0;
    if (first.empty()) {  // the last `to` bytes
        if (!parse_number(last, to)) return RangeKind::whole;
        if (to == 0 || size == 0) return RangeKind::unsatisfiable;
        part = {size - std::min(to, size), size};
        return RangeKind::part;
    }
    if (!parse_number(first, from)) return RangeKind::whole;
    if (last.empty()) {
        to = kMaxBodyBytes;
    } else if (!parse_number(last, to) || to < from) {
        return RangeKind::whole;
    }
    if (from >= size) return RangeKind::unsatisfiable;
    part = {from, to < size ? to + 1 : size};
    return RangeKind::part;
}

/// RFC 9110 §13.1.5: a strong tag or an exact date.
bool if_range_holds(const proxy::Field& condition, const proxy::Validators& validators) {
    return condition.value == validators.etag || condition.value == validators.last_modified;
}

void begin_head(std::string& head, unsigned status, proxy::WallTime now) {
    head.assign("HTTP/1.1 ");
    base::append_number(head, status);
    head += ' ';
    const auto reason =
        boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(status));
    head.append(reason.data(), reason.size());
    head.append("\r\nServer: ").append(kOriginName) += "\r\nDate: ";
    proxy::append_http_date(head, now);
}

}  // namespace

void answer_error(unsigned status, std::string_view why, bool keep_alive, proxy::WallTime now,
                  OriginAnswer& answer) {
    begin_head(answer.head, status, now);
    answer.head += "\r\nContent-Type: text/plain\r\nCache-Control: no-store\r\nContent-Length: ";
    base::append_number(answer.head, why.size() + 1);
    if (status == 405) answer.head += "\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
    if (!keep_alive) answer.head += "\r\nConnection: close";
    answer.head.append("\r\n\r\n").append(why) += '\n';
    answer.body.reset();
    answer.delay = std::chrono::milliseconds{0};
    answer.keep_alive = keep_alive;
}

void answer_origin_request(const proxy::Head& request, bool keep_alive, proxy::WallTime now,
                           proxy::CacheKey& key, OriginAnswer& answer) {
    if (request.verb == verb::connect || request.verb == verb::trace) {
        return answer_error(405, "the origin has no use for this method", keep_alive, now, answer);
    }
    const auto host = request.get(field::host).value_or(std::string_view("localhost"));
    const auto error = key.assign(proxy::Scheme::http, request.verb, request.target, host);
    if (error != proxy::TargetError::none) {
        return answer_error(400, proxy::to_string(error), keep_alive, now, answer);
    }
    AnswerOptions wishes;
    if (const auto name = read_wishes(request.fields, wishes); !name.empty()) {
        const auto why = std::string(name) + " is no number, or too large";
        return answer_error(400, why, keep_alive, now, answer);
    }

    const OriginBody body = OriginBody::of(key);
    const bool stored = request.verb == verb::get || request.verb == verb::head;
    std::string tag = "\"";
    tag.append(body.piece(0)) += '-';
    base::append_number(tag, wishes.bytes);
    tag += '"';
    std::string modified;
    proxy::append_http_date(
        modified, kFirstModified + std::chrono::seconds{body.hash() % kModifiedSpanSeconds});
    const proxy::Validators validators{tag, modified, {}};

    unsigned status = 200;
    Part part{0, wishes.bytes};
    if (stored && proxy::answers_not_modified(request.fields, 200, validators, now)) {
        status = 304;
    } else if (request.verb == verb::get) {
        const auto* range = proxy::find(request.fields, field::range);
        const auto* condition = proxy::find(request.fields, field::if_range);
        if (range && (!condition || if_range_holds(*condition, validators))) {
            const auto kind = parse_range(range->value, wishes.bytes, part);
            status = kind == RangeKind::whole ? 200 : kind == RangeKind::part ? 206 : 416;
        }
    }

    std::string& head = answer.head;
    begin_head(head, status, now);
    if (stored) {
        head += "\r\nCache-Control: max-age=";
        base::append_number(head, wishes.max_age);
    } else {
        head += "\r\nCache-Control: no-store";
    }
    head.append("\r\nETag: ").append(tag).append("\r\nLast-Modified: ").append(modified);
    if (status == 416) part = {0, 0};
    if (status != 304) {
        head += "\r\nContent-Type: text/plain\r\nAccept-Ranges: bytes\r\nContent-Length: ";
        base::append_number(head, part.end - part.begin);
    }
    if (status == 206) {
        head += "\r\nContent-Range: bytes ";
        base::append_number(head, part.begin);
        head += '-';
        base::append_number(head, part.end - 1);
        head += '/';
        base::append_number(head, wishes.bytes);
    } else if (status == 416) {
        head += "\r\nContent-Range: bytes */";
        base::append_number(head, wishes.bytes);
    }
    if (!keep_alive) head += "\r\nConnection: close";
    head += "\r\n\r\n";

    answer.delay = std::chrono::milliseconds{wishes.delay_ms};
    answer.keep_alive = keep_alive;
    answer.begin = part.begin;
    answer.end = part.end;
    answer.body.reset();
    if (request.verb != verb::head && status != 304) answer.body = body;
}

}  // namespace measure
