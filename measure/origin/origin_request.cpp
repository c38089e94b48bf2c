#include "measure/origin/origin_request.hpp"

#include <boost/beast/http/status.hpp>

#include "base/text/number.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/range.hpp"
#include "proxy/http/validators.hpp"

namespace measure {
namespace {

using boost::beast::http::field;
using boost::beast::http::verb;

constexpr proxy::WallTime kFirstModified{std::chrono::sys_days{std::chrono::year{2024} / 1 / 1}};
constexpr std::uint64_t kModifiedSpanSeconds = 300 * 86'400;

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
            const auto wanted = base::parse_number(line.value);
            if (!wanted || *wanted > limit) return name;
            value = *wanted;
        }
    }
    return {};
}

/// RFC 9110 §13.1.5: a strong tag or an exact date.
bool if_range_holds(const proxy::Field& condition, const proxy::Validators& validators) {
    return condition.value == validators.etag || condition.value == validators.last_modified;
}

proxy::RangeAnswer asked_part(proxy::Fields request, const proxy::Validators& validators,
                              std::uint64_t length) {
    const auto* condition = proxy::find(request, field::if_range);
    if (condition && !if_range_holds(*condition, validators)) return {};
    return proxy::evaluate(proxy::range_request(request), length);
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
    std::uint64_t begin = 0, end = wishes.bytes;
    if (stored && proxy::answers_not_modified(request.fields, 200, validators, now)) {
        status = 304;
    } else if (request.verb == verb::get) {
        using Kind = proxy::RangeAnswer::Kind;
        const auto asked = asked_part(request.fields, validators, wishes.bytes);
        if (asked.kind == Kind::part) {
            status = 206;
            begin = asked.range.first;
            end = asked.range.last + 1;
        } else if (asked.kind == Kind::unsatisfiable) {
            status = 416;
            end = 0;
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
    if (status != 304) {
        head += "\r\nContent-Type: text/plain\r\nAccept-Ranges: bytes\r\nContent-Length: ";
        base::append_number(head, end - begin);
    }
    if (status == 206) {
        head += "\r\nContent-Range: bytes ";
        base::append_number(head, begin);
        head += '-';
        base::append_number(head, end - 1);
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
    answer.begin = begin;
    answer.end = end;
    answer.body.reset();
    if (request.verb != verb::head && status != 304) answer.body = body;
}

}  // namespace measure
