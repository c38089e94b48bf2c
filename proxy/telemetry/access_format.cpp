// The three formats of the access log. access_log.cpp has the writer.
#include "proxy/telemetry/access_log.hpp"

#include "base/text/json_string.hpp"
#include "proxy/http/field_list.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace proxy {

namespace {

using namespace std::chrono;

constexpr std::string_view kHexDigits = "0123456789abcdef";

void append_hex(std::string& out, unsigned char byte) {
    out.push_back(kHexDigits[byte >> 4]);
    out.push_back(kHexDigits[byte & 15]);
}

bool is_printable_ascii(char c) {
    return c > 0x20 && c < 0x7f;
}

/// Zero-padded to `width`.
void append_number(std::string& out, std::uint64_t value, std::size_t width = 1) {
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    const auto count = static_cast<std::size_t>(end - digits.data());
    if (count < width) out.append(width - count, '0');
    out.append(digits.data(), count);
}

void append_json_member(std::string& out, std::string_view key, std::string_view text) {
    out.append(",\"").append(key).append("\":");
    base::append_json_string(out, text);
}

void append_peers_asked(std::string& out, const std::deque<PeerRequestLog::Entry>& all) {
    out.append(",\"peers_asked\":[");
    for (const auto& entry : all) {
        if (&entry != &all.front()) out.push_back(',');
        out.append("{\"peer\":");
        base::append_json_string(out, entry.node);
        append_json_member(out, "verdict", to_string(entry.verdict));
        out.push_back('}');
    }
    out.push_back(']');
}

/// For formats with spaces as separators: spaces and unprintable bytes as %xx, an empty text as
/// `-`.
void append_word(std::string& out, std::string_view text) {
    if (text.empty()) out.push_back('-');
    for (const char c : text) {
        if (is_printable_ascii(c)) {
            out.push_back(c);
        } else {
            out.push_back('%');
            append_hex(out, static_cast<unsigned char>(c));
        }
    }
}

/// For the quoted parts of combined, escaped as by Apache.
void append_quotable(std::string& out, std::string_view text) {
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out.push_back('\\');
            out.push_back(c);
        } else if (c == ' ' || is_printable_ascii(c)) {
            out.push_back(c);
        } else {
            out.append("\\x");
            append_hex(out, static_cast<unsigned char>(c));
        }
    }
}

void append_quoted_or_dash(std::string& out, std::string_view text) {
    out.push_back('"');
    if (text.empty()) out.push_back('-');
    append_quotable(out, text);
    out.push_back('"');
}

struct Calendar {
    explicit Calendar(system_clock::time_point time)
        : day(floor<days>(time)), date(day), clock(floor<milliseconds>(time) - day) {}

    sys_days day;
    year_month_day date;
    hh_mm_ss<milliseconds> clock;
};

void append_clock(std::string& out, const Calendar& time) {
    append_number(out, static_cast<std::uint64_t>(time.clock.hours().count()), 2);
    out.push_back(':');
    append_number(out, static_cast<std::uint64_t>(time.clock.minutes().count()), 2);
    out.push_back(':');
    append_number(out, static_cast<std::uint64_t>(time.clock.seconds().count()), 2);
}

void append_rfc3339(std::string& out, const Calendar& time) {
    append_number(out, static_cast<std::uint64_t>(static_cast<int>(time.date.year())), 4);
    out.push_back('-');
    append_number(out, static_cast<unsigned>(time.date.month()), 2);
    out.push_back('-');
    append_number(out, static_cast<unsigned>(time.date.day()), 2);
    out.push_back('T');
    append_clock(out, time);
    out.push_back('.');
    append_number(out, static_cast<std::uint64_t>(time.clock.subseconds().count()), 3);
    out.push_back('Z');
}

void append_common_log_time(std::string& out, const Calendar& time) {
    constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    append_number(out, static_cast<unsigned>(time.date.day()), 2);
    out.append("/").append(kMonths[static_cast<unsigned>(time.date.month()) - 1]).append("/");
    append_number(out, static_cast<std::uint64_t>(static_cast<int>(time.date.year())), 4);
    out.push_back(':');
    append_clock(out, time);
    out.append(" +0000");
}

/// Milliseconds with three decimals.
void append_milliseconds(std::string& out, nanoseconds duration) {
    const auto us = static_cast<std::uint64_t>(
        std::max(duration_cast<microseconds>(duration), microseconds(0)).count());
    append_number(out, us / 1000);
    out.push_back('.');
    append_number(out, us % 1000, 3);
}

/// Squid's result code; log analysers know these words.
std::string_view squid_result(const AccessRecord& record) {
    switch (record.handling.outcome) {
        case Outcome::refused:
            return "TCP_DENIED";
        case Outcome::error:
            return record.response.status >= 500 ? "TCP_MISS" : "NONE_NONE";
        case Outcome::uncacheable:
            return record.request.method == "CONNECT" ? "TCP_TUNNEL" : "TCP_MISS";
        default:
            break;
    }
    if (record.handling.cache == CacheResult::stale) return "TCP_REFRESH_FAIL_OLD";
    if (record.handling.cache == CacheResult::reval) {
        if (record.request.client_reload) return "TCP_CLIENT_REFRESH_MISS";
        return record.handling.validated ? "TCP_REFRESH_UNMODIFIED" : "TCP_REFRESH_MODIFIED";
    }
    if (record.handling.outcome != Outcome::local_hit) return "TCP_MISS";
    if (record.response.status == 304) return "TCP_IMS_HIT";
    return record.handling.source == Source::disk ? "TCP_HIT" : "TCP_MEM_HIT";
}

std::string_view squid_hierarchy(const AccessRecord& record) {
    if (record.handling.source == Source::peer) return "CD_SIBLING_HIT";
    const bool asked_origin = record.handling.source == Source::origin || record.handling.validated;
    return asked_origin ? "HIER_DIRECT" : "HIER_NONE";
}

/// The user field also marks peer requests. Names of users exclude a colon (RFC 7617 §2).
void append_user(std::string& out, const AccessRecord& record) {
    if (record.request.role == Role::client) return append_word(out, record.request.user);
    out.append("peer:");
    if (!record.handling.peer.empty()) append_word(out, record.handling.peer);
}

/// As in Squid: the name of a peer, or the address of an origin without its port.
std::string_view squid_server(const AccessRecord& record, std::string_view hierarchy) {
    if (hierarchy == "CD_SIBLING_HIT") return record.handling.peer;
    if (hierarchy == "HIER_NONE") return {};
    auto address = record.handling.origin.substr(0, record.handling.origin.rfind(':'));
    if (address.starts_with('[')) address = address.substr(1, address.size() - 2);
    return address;
}

std::string_view protocol_of(const AccessRecord& record) {
    if (record.request.version >= 20) return "HTTP/2.0";
    return record.request.version == 10 ? "HTTP/1.0" : "HTTP/1.1";
}

}  // namespace

void append_json_line(std::string& out, const AccessRecord& record) {
    out.append("{\"ts\":\"");
    append_rfc3339(out, Calendar(record.ts));
    out.push_back('"');
    append_json_member(out, "role", to_string(record.request.role));
    append_json_member(out, "client", record.request.client);
    if (!record.request.user.empty()) append_json_member(out, "user", record.request.user);
    append_json_member(out, "method", record.request.method);
    append_json_member(out, "url", record.request.url);
    out.append(",\"status\":");
    append_number(out, record.response.status);
    out.append(",\"bytes\":");
    append_number(out, record.response.bytes);
    out.append(",\"dur_ms\":");
    append_milliseconds(out, record.duration);
    append_json_member(out, "outcome", to_string(record.handling.outcome));
    append_json_member(out, "cache", to_string(record.handling.cache));
    append_json_member(out, "source", to_string(record.handling.source));
    append_json_member(out, "protocol", protocol_of(record));
    const auto asked = record.handling.peer_verdict != PeerVerdict::not_asked;
    if (asked || record.request.role == Role::peer)
        append_json_member(out, "peer", record.handling.peer);
    if (asked) append_json_member(out, "peer_verdict", to_string(record.handling.peer_verdict));
    if (record.handling.peers_asked && record.handling.peers_asked->all().size() > 1)
        append_peers_asked(out, record.handling.peers_asked->all());
    if (!record.handling.origin.empty()) append_json_member(out, "origin", record.handling.origin);
    if (!record.handling.rule.empty()) append_json_member(out, "rule", record.handling.rule);
    if (record.request.trace != TraceId{}) {
        out.append(",\"trace_id\":\"");
        append_id(out, record.request.trace);
        out.push_back('"');
    }
    if (record.handling.redirects > 0) {
        out.append(",\"redirects\":");
        append_number(out, record.handling.redirects);
    }
    if (record.response.rewritten) out.append(",\"rewritten\":true");
    if (!record.response.cache_status.empty())
        append_json_member(out, "cache_status", record.response.cache_status);
    if (!record.handling.blocklist.empty())
        append_json_member(out, "blocklist", record.handling.blocklist);
    if (record.request.intercepted) out.append(",\"intercepted\":true");
    if (record.response.aborted) out.append(",\"aborted\":true");
    out.append("}\n");
}

void append_squid_line(std::string& out, const AccessRecord& record) {
    // Squid logs the time of the end.
    const auto end = floor<milliseconds>(record.ts + record.duration).time_since_epoch();
    append_number(out, static_cast<std::uint64_t>(end.count() / 1000));
    out.push_back('.');
    append_number(out, static_cast<std::uint64_t>(end.count() % 1000), 3);
    const auto elapsed = duration_cast<milliseconds>(record.duration).count();
    const auto elapsed_text = std::to_string(elapsed);
    out.append(elapsed_text.size() < 6 ? 7 - elapsed_text.size() : 1, ' ').append(elapsed_text);
    out.push_back(' ');
    append_word(out, record.request.client);
    out.append(" ")
        .append(squid_result(record))
        .append(record.response.aborted ? "_ABORTED/" : "/");
    append_number(out, record.response.status, 3);
    out.push_back(' ');
    append_number(out, record.response.sent);
    out.push_back(' ');
    append_word(out, record.request.method);
    out.push_back(' ');
    append_word(out, record.request.url);
    out.push_back(' ');
    append_user(out, record);
    out.push_back(' ');
    const auto hierarchy = squid_hierarchy(record);
    out.append(hierarchy).append("/");
    append_word(out, squid_server(record, hierarchy));
    out.push_back(' ');
    append_word(
        out, trim(record.response.content_type.substr(0, record.response.content_type.find(';'))));
    out.push_back('\n');
}

void append_combined_line(std::string& out, const AccessRecord& record) {
    append_word(out, record.request.client);
    out.append(" - ");
    append_user(out, record);
    out.append(" [");
    append_common_log_time(out, Calendar(record.ts));
    out.append("] \"");
    if (record.request.method.empty()) {  // the line as it came, which could not be read
        append_quotable(out, record.request.url);
    } else {
        append_quotable(out, record.request.method);
        out.push_back(' ');
        append_quotable(out, record.request.url);
        out.append(" ").append(protocol_of(record));
    }
    out.append("\" ");
    append_number(out, record.response.status, 3);
    out.push_back(' ');
    if (record.response.bytes == 0) {
        out.push_back('-');
    } else {
        append_number(out, record.response.bytes);
    }
    out.push_back(' ');
    append_quoted_or_dash(out, record.request.referer);
    out.push_back(' ');
    append_quoted_or_dash(out, record.request.user_agent);
    out.push_back(' ');
    append_word(out, record.handling.origin);
    out.push_back('\n');
}

void append_access_line(std::string& out, AccessFormat format, const AccessRecord& record) {
    switch (format) {
        case AccessFormat::json:
            return append_json_line(out, record);
        case AccessFormat::squid:
            return append_squid_line(out, record);
        case AccessFormat::combined:
            return append_combined_line(out, record);
    }
}

}  // namespace proxy
