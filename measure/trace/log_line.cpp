#include "measure/trace/log_line.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "measure/trace/line_prefix.hpp"

namespace measure {
namespace {

constexpr std::int64_t kMaxUnixSeconds = 253'402'300'799;  // the end of the year 9999
constexpr int kMostPrefixes = 3;  // for example syslog behind `docker compose logs -t`

template <typename Number>
bool to_number(std::string_view text, Number& out) {
    if (text.empty()) return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc{} && end == text.data() + text.size();
}

/// Reads the bytes of an answer; `-` states none. False for any other word, such as `1.204` or
/// `5k`: its first digits are another number.
bool read_bytes(std::string_view word, std::uint64_t& out) {
    return word == "-" || to_number(word, out);
}

/// Cuts the text up to `separator` off `rest`. Returns nothing if the separator is missing.
std::optional<std::string_view> cut(std::string_view& rest, char separator) {
    const auto end = rest.find(separator);
    if (end == std::string_view::npos) return std::nullopt;
    const auto field = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return field;
}

bool is_method(std::string_view text) {
    if (text.empty() || text.size() > 32) return false;
    for (const char c : text) {
        const bool ok = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '_';
        if (!ok) return false;
    }
    return true;
}

std::optional<LogLine> parse_tab_separated(std::string_view line, std::string_view& why) {
    LogLine out;
    const auto time = cut(line, '\t'), client = cut(line, '\t'), method = cut(line, '\t'),
               url = cut(line, '\t'), status = cut(line, '\t');
    if (!status) return std::nullopt;
    const auto bytes = line.substr(0, line.find('\t'));
    std::uint64_t client_number = 0;
    if (!to_number(*time, out.time_ms) || out.time_ms < 0 || out.time_ms / 1000 > kMaxUnixSeconds ||
        !to_number(*client, client_number) || !is_method(*method) ||
        !to_number(*status, out.status)) {
        return std::nullopt;
    }
    if (!read_bytes(bytes, out.bytes)) {
        why = kUnsureSize;
        return std::nullopt;
    }
    out.client = *client;
    out.method = *method;
    out.url = *url;
    return out;
}

/// Each URL is of a client of its own, so a replay may send all of them side by side.
std::optional<LogLine> parse_url(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto is_url = line.starts_with("http://") || line.starts_with("https://");
    if (!is_url || line.find_first_of(" \t") != std::string_view::npos) return std::nullopt;
    LogLine out;
    out.client = out.url = line;
    out.method = "GET";
    out.status = 200;
    return out;
}

/// 10/Oct/2000:13:55:36 -0700
bool parse_common_time(std::string_view text, std::int64_t& out_ms) {
    constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
    if (text.size() < 26 || text[2] != '/' || text[6] != '/' || text[11] != ':' ||
        text[14] != ':' || text[17] != ':' || text[20] != ' ') {
        return false;
    }
    unsigned day = 0, hour = 0, minute = 0, second = 0, zone = 0;
    int year = 0;
    const auto month = kMonths.find(text.substr(3, 3));
    if (month == std::string_view::npos || month % 3 != 0 || !to_number(text.substr(0, 2), day) ||
        !to_number(text.substr(7, 4), year) || !to_number(text.substr(12, 2), hour) ||
        !to_number(text.substr(15, 2), minute) || !to_number(text.substr(18, 2), second) ||
        !to_number(text.substr(22, 4), zone) || (text[21] != '+' && text[21] != '-')) {
        return false;
    }
    namespace chr = std::chrono;
    const chr::year_month_day date{chr::year{year},
                                   chr::month{static_cast<unsigned>(month / 3 + 1)}, chr::day{day}};
    if (!date.ok()) return false;
    const auto offset = chr::hours{zone / 100} + chr::minutes{zone % 100};
    const auto local =
        chr::sys_days{date} + chr::hours{hour} + chr::minutes{minute} + chr::seconds{second};
    const auto utc = text[21] == '+' ? local - offset : local + offset;
    out_ms = chr::duration_cast<chr::milliseconds>(utc.time_since_epoch()).count();
    return true;
}

/// 2000-10-10T20:55:36.123Z
bool parse_rfc3339(std::string_view text, std::int64_t& out_ms) {
    if (text.size() != 24 || text[4] != '-' || text[7] != '-' || text[10] != 'T' ||
        text[13] != ':' || text[16] != ':' || text[19] != '.' || text[23] != 'Z') {
        return false;
    }
    int year = 0;
    unsigned month = 0, day = 0, hour = 0, minute = 0, second = 0, milliseconds = 0;
    if (!to_number(text.substr(0, 4), year) || !to_number(text.substr(5, 2), month) ||
        !to_number(text.substr(8, 2), day) || !to_number(text.substr(11, 2), hour) ||
        !to_number(text.substr(14, 2), minute) || !to_number(text.substr(17, 2), second) ||
        !to_number(text.substr(20, 3), milliseconds)) {
        return false;
    }
    namespace chr = std::chrono;
    const chr::year_month_day date{chr::year{year}, chr::month{month}, chr::day{day}};
    if (!date.ok()) return false;
    const auto time = chr::sys_days{date} + chr::hours{hour} + chr::minutes{minute} +
                      chr::seconds{second} + chr::milliseconds{milliseconds};
    out_ms = time.time_since_epoch().count();
    return out_ms >= 0;
}

/// hearsay's log writes bytes that are invalid UTF-8 as U+EF80 to U+EFFF (EE BE 80 to EE BF BF);
/// the last two digits are the byte.
void restore_bytes(std::string& text) {
    std::size_t out = 0;
    for (std::size_t i = 0; i < text.size(); ++i, ++out) {
        const auto at = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
        if (at(i) == 0xee && i + 2 < text.size() && (at(i + 1) == 0xbe || at(i + 1) == 0xbf)) {
            text[out] = static_cast<char>(at(i + 2) + (at(i + 1) == 0xbf ? 0x40 : 0));
            i += 2;
        } else {
            text[out] = text[i];
        }
    }
    text.resize(out);
}

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// Undoes the escapes of Apache and nginx. An unknown escape stays unchanged.
void unescape(std::string_view text, std::string& out) {
    out.clear();
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || i + 1 == text.size()) {
            out += text[i];
            continue;
        }
        const char next = text[i + 1];
        if (next == 'x' && i + 3 < text.size() && hex_value(text[i + 2]) >= 0 &&
            hex_value(text[i + 3]) >= 0) {
            out += static_cast<char>(hex_value(text[i + 2]) * 16 + hex_value(text[i + 3]));
            i += 3;
        } else if (next == '"' || next == '\\') {
            out += next;
            ++i;
        } else if (next == 'n' || next == 'r' || next == 't') {
            out += next == 'n' ? '\n' : next == 'r' ? '\r' : '\t';
            ++i;
        } else {
            out += '\\';
        }
    }
}

/// Returns the end of the quoted request line: a quote followed by ` DDD `. Old servers left quotes
/// inside the request unescaped, so the first quote may be part of it.
std::size_t end_of_request(std::string_view rest) {
    const auto digit = [&](std::size_t at) {
        return at < rest.size() && rest[at] >= '0' && rest[at] <= '9';
    };
    for (auto at = rest.find("\" "); at != std::string_view::npos; at = rest.find("\" ", at + 1)) {
        std::size_t backslashes = 0;
        while (backslashes < at && rest[at - backslashes - 1] == '\\') ++backslashes;
        const bool escaped = backslashes % 2 == 1;
        const bool status = (digit(at + 2) && digit(at + 3) && digit(at + 4)) ||
                            rest.substr(at + 2).starts_with('-');
        if (!escaped && status) return at;
    }
    return std::string_view::npos;
}

bool is_address(std::string_view text) {
    boost::system::error_code error;
    boost::asio::ip::make_address(std::string(text), error);
    return !error;
}

/// Returns true for `www.example.org:80` or `[::1]:80`, false for `::1`.
bool has_port(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return false;
    const auto host = text.substr(0, colon);
    std::uint16_t port = 0;
    return to_number(text.substr(colon + 1), port) && port != 0 &&
           (host.find(':') == std::string_view::npos || host.front() == '[');
}

/// Returns true for a host name of a site. Numbers and placeholders are refused.
bool is_name(std::string_view text) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    return std::any_of(text.begin(), text.end(), letter) &&
           std::all_of(text.begin(), text.end(), [&](char c) {
               return letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
           });
}

/// Returns true for one host, by its name or address. With a port, each connection would count as
/// another client.
bool is_client(std::string_view text) {
    return !text.empty() && text != "-" && text != "unknown" && !text.ends_with(':') &&
           text.find_first_of(",;|\"=[]()<>/") == std::string_view::npos && !has_port(text);
}

/// Returns true for `%v:%p` or `%v` before the client. An address counts as a site only with a port
/// outside the range of client connections. Any other address may be the client, followed by the
/// proxy that forwarded it.
bool is_site(std::string_view text, bool before_address) {
    if (!has_port(text))
        return before_address && is_name(text) &&
               (text.find('.') != std::string_view::npos || text == "localhost");
    const auto colon = text.rfind(':');
    auto host = text.substr(0, colon);
    if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    std::uint16_t port = 0;
    to_number(text.substr(colon + 1), port);
    return is_address(host) ? port < 1024 : is_name(host);
}

/// hearsay's mark of a peer's request, in the field of the user. User names contain no colon (RFC
/// 7617 §2).
bool is_peer_mark(std::string_view user) {
    return user.starts_with("peer:");
}

/// The client and user of a request, and its site if the line states it.
struct Names {
    std::string_view site, client, user;
};

/// Splits `client - user` or `site client - user`. A user's name may contain blanks. Returns
/// nothing if the words allow a second reading.
std::optional<Names> names_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (const auto word = cut(text, ' ')) words.push_back(*word);
    words.push_back(text);
    const auto user_from = [&](std::size_t first) {
        return words.size() > first &&
               std::none_of(words.begin() + static_cast<std::ptrdiff_t>(first), words.end(),
                            [](auto word) { return is_address(word.substr(0, word.find(','))); });
    };
    if (words.size() >= 2 && words[1] == "-") {
        if (!is_client(words[0]) || !user_from(2)) return std::nullopt;
        return Names{{}, words[0], words[2]};
    }
    if (words.size() < 3 || words[2] != "-" || !is_client(words[1]) || !user_from(3) ||
        !is_site(words[0], is_address(words[1])))
        return std::nullopt;
    return Names{words[0], words[1], words[3]};
}

/// Squid's words for aborted answers and for answers of its own.
bool tells_no_size(std::string_view result) {
    return result.find("ABORTED") != std::string_view::npos ||
           result.find("TIMEDOUT") != std::string_view::npos ||
           result.find("DENIED") != std::string_view::npos ||
           result.find("TUNNEL") != std::string_view::npos || result.starts_with("UDP_");
}

}  // namespace

std::string_view to_string(LogFormat format) {
    switch (format) {
        case LogFormat::tab_separated:
            return "tab-separated";
        case LogFormat::squid:
            return "squid";
        case LogFormat::common:
            return "common/combined";
        case LogFormat::json:
            return "JSON";
        case LogFormat::url_list:
            return "list of URLs";
    }
    return "?";
}

LoggedSize logged_size(const LogLine& line) {
    if (line.cut_off || line.bytes == 0 || line.method != "GET") return LoggedSize::none;
    switch (line.status) {
        case 200:
        case 203:
            return LoggedSize::of_object;
        case 300:
        case 301:
        case 410:
            return LoggedSize::of_answer;
        default:
            return LoggedSize::none;
    }
}

std::optional<LogLine> LineParser::parse(std::string_view line) {
    why_ = kNotThisFormat;
    for (int layer = 0;; ++layer) {
        if (auto out = parse_bare(line)) return out;
        const auto rest = layer < kMostPrefixes ? without_prefix(line) : line;
        if (rest.size() == line.size()) return std::nullopt;
        line = rest;
    }
}

std::optional<LogLine> LineParser::parse_bare(std::string_view line) {
    switch (format_) {
        case LogFormat::tab_separated:
            return parse_tab_separated(line, why_);
        case LogFormat::squid:
            return parse_squid(line);
        case LogFormat::common:
            return parse_common(line);
        case LogFormat::json:
            return parse_json(line);
        case LogFormat::url_list:
            return parse_url(line);
    }
    return std::nullopt;
}

/// time.ms elapsed client code/status bytes method URL user hierarchy/host type
std::optional<LogLine> LineParser::parse_squid(std::string_view line) {
    std::array<std::string_view, 10> fields;
    std::size_t count = 0;
    while (count < fields.size()) {
        const auto begin = line.find_first_not_of(' ');
        if (begin == std::string_view::npos) break;
        line.remove_prefix(begin);
        const auto end = line.find(' ');
        fields[count++] = line.substr(0, end);
        if (end == std::string_view::npos) break;
        line.remove_prefix(end);
    }
    if (count < 9) return std::nullopt;  // very old logs lack the type

    LogLine out;
    std::string_view seconds = fields[0];
    const auto whole = cut(seconds, '.');
    std::int64_t unix_seconds = 0, elapsed = 0;
    unsigned milliseconds = 0;
    if (!whole || seconds.size() != 3 || !to_number(*whole, unix_seconds) || unix_seconds < 0 ||
        unix_seconds > kMaxUnixSeconds || !to_number(seconds, milliseconds) ||
        !to_number(fields[1], elapsed)) {
        return std::nullopt;
    }
    std::string_view result = fields[3];
    const auto word = cut(result, '/');
    if (!word || !to_number(result, out.status)) return std::nullopt;
    if (!is_method(fields[5])) return std::nullopt;
    const auto has_size = read_bytes(fields[4], out.bytes);
    if (!has_size || !is_client(fields[2])) {
        why_ = has_size ? kUnsureClient : kUnsureSize;
        return std::nullopt;
    }
    out.cut_off = tells_no_size(*word);
    out.time_ms = unix_seconds * 1000 + milliseconds;
    out.client = fields[2];
    out.method = fields[5];
    out.url = fields[6];
    out.by_peer = is_peer_mark(fields[7]);
    return out;
}

/// [site] host ident user [time] "method target version" status bytes ["referer" "agent"]
std::optional<LogLine> LineParser::parse_common(std::string_view line) {
    LogLine out;
    const auto names_end = line.find(" [");
    if (names_end == std::string_view::npos) return std::nullopt;
    const auto names = names_of(line.substr(0, names_end));
    line.remove_prefix(names_end + 2);
    const auto time = cut(line, ']');
    if (!time || !parse_common_time(*time, out.time_ms) || line.substr(0, 2) != " \"") {
        return std::nullopt;
    }
    line.remove_prefix(2);
    const auto end = end_of_request(line);
    if (end == std::string_view::npos) return std::nullopt;
    unescape(line.substr(0, end), unescaped_);
    line.remove_prefix(end + 2);
    const auto status = line.substr(0, line.find(' '));
    if (status != "-" && !to_number(status, out.status)) return std::nullopt;
    if (!names) {
        why_ = kUnsureClient;
        return std::nullopt;
    }
    // Some logs have the referer in its place, in quotes.
    line.remove_prefix(std::min(line.size(), status.size() + 1));
    const auto bytes = line.substr(0, line.find(' '));
    if (!bytes.empty() && !bytes.starts_with('"') && !read_bytes(bytes, out.bytes)) {
        why_ = kUnsureSize;
        return std::nullopt;
    }

    std::string_view request = unescaped_;
    const auto version = request.rfind(" HTTP/");
    if (version != std::string_view::npos) request = request.substr(0, version);
    const auto space = request.find(' ');
    out.site = names->site;
    out.client = names->client;
    out.by_peer = is_peer_mark(names->user);
    out.method = request.substr(0, space);
    if (space != std::string_view::npos) out.url = request.substr(space + 1);
    return out;
}

std::optional<LogLine> LineParser::parse_json(std::string_view line) {
    if (!line.starts_with('{')) return std::nullopt;
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    const auto text = [&](const char* key, std::string& out) {
        const auto found = json.find(key);
        if (found == json.end() || !found->is_string()) return false;
        out = found->get_ref<const std::string&>();
        restore_bytes(out);
        return true;
    };
    const auto number = [&](const char* key, std::uint64_t& out) {
        const auto found = json.find(key);
        if (found == json.end() || found->is_null()) return true;
        if (found->is_number_unsigned()) out = found->get<std::uint64_t>();
        return found->is_number_unsigned();
    };
    LogLine out;
    std::string time, role;
    if (!text("ts", time) || !parse_rfc3339(time, out.time_ms) || !text("client", client_) ||
        !text("method", method_) || !text("url", unescaped_)) {
        return std::nullopt;
    }
    std::uint64_t status = 0;
    if (!number("status", status)) return std::nullopt;
    if (!number("bytes", out.bytes)) {
        why_ = kUnsureSize;
        return std::nullopt;
    }
    out.client = client_;
    out.method = method_;
    out.url = unescaped_;
    out.status = static_cast<unsigned>(std::min<std::uint64_t>(status, 999));
    const auto aborted = json.find("aborted");
    out.cut_off = aborted != json.end() && *aborted == true;
    out.by_peer = text("role", role) && role == "peer";
    return out;
}

}  // namespace measure
