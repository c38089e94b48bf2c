// Files that a person gives us: the configuration, and request logs, our own among them.

#include "measure/trace/log_line.hpp"
#include "proxy/access/password_file.hpp"
#include "proxy/access/password_hash.hpp"
#include "proxy/config/config.hpp"
#include "proxy/config/config_json.hpp"
#include "proxy/config/parse_config.hpp"
#include "proxy/telemetry/access_log.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace {

std::optional<std::string> environment(const std::string& name) {
    if (name == "KEY") return std::string(32, 'k');
    return std::nullopt;
}

/// Printed configurations hide the keys; these stand in for them.
std::string with_keys(std::string text) {
    constexpr std::string_view kHidden = "\"(secret)\"";
    const auto keys = text.find("\"keys\": [");
    const auto end = text.find(']', keys);
    for (char c = 'b'; c >= 'a' && keys != std::string::npos; --c) {
        const auto at = text.rfind(kHidden, end);
        if (at < end && at > keys)
            text.replace(at, kHidden.size(), "\"" + std::string(32, c) + "\"");
    }
    return text;
}

void check_line(measure::LogFormat format, std::string_view line) {
    measure::LineParser parser(format);
    const auto parsed = parser.parse(line);
    if (!parsed || format == measure::LogFormat::json) return;  // its views are of the parser
    FUZZ_CHECK(inside(parsed->client, line));
    if (format == measure::LogFormat::common) return;  // may be unescaped: views of the parser
    FUZZ_CHECK(inside(parsed->method, line) && inside(parsed->url, line));
    if (format != measure::LogFormat::tab_separated) return;
    auto again = std::to_string(parsed->time_ms);
    again.append("\t").append(parsed->client).append("\t").append(parsed->method);
    again.append("\t").append(parsed->url).append("\t").append(std::to_string(parsed->status));
    again.append("\t").append(std::to_string(parsed->bytes));
    const auto reread = parser.parse(again);
    FUZZ_CHECK(reread && reread->time_ms == parsed->time_ms && reread->client == parsed->client);
    FUZZ_CHECK(reread->method == parsed->method && reread->url == parsed->url);
    FUZZ_CHECK(reread->status == parsed->status && reread->bytes == parsed->bytes);
}

/// The line that our access log writes of `record`, as a request log gives it back.
measure::LogLine read_back(measure::LineParser& parser, std::string& line,
                           proxy::AccessFormat format, const proxy::AccessRecord& record) {
    proxy::append_access_line(line, format, record);
    FUZZ_CHECK(std::count(line.begin(), line.end(), '\n') == 1 && line.back() == '\n');
    line.pop_back();
    const auto parsed = parser.parse(line);
    FUZZ_CHECK(parsed);
    // Squid's size has the head in it.
    const auto bytes =
        format == proxy::AccessFormat::squid ? record.response.sent : record.response.bytes;
    FUZZ_CHECK(parsed->status == record.response.status && parsed->bytes == bytes);
    return *parsed;
}

bool is_word(std::string_view text) {
    return !text.empty() && text.size() <= 32 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    });
}

}  // namespace

int fuzz_config(const std::uint8_t* data, std::size_t size) {
    const auto result = proxy::parse_config(as_text(data, size), environment);
    FUZZ_CHECK(result.config.has_value() == result.errors.empty());
    for (const auto& error : result.errors) {
        FUZZ_CHECK(error.path.starts_with("$") && !error.message.empty());
        const auto key = environment("KEY");  // never shown, unless the file itself says it
        FUZZ_CHECK(as_text(data, size).find(*key) != std::string_view::npos ||
                   error.message.find(*key) == std::string::npos);
    }
    if (!result.config) return 0;
    // Printed text says the same when it is read.
    const auto printed = proxy::effective_config(*result.config);
    const auto again = proxy::parse_config(with_keys(printed), environment);
    FUZZ_CHECK(again.config && proxy::effective_config(*again.config) == printed);
    return 0;
}

int fuzz_trace_line(const std::uint8_t* data, std::size_t size) {
    for (const auto format :
         {measure::LogFormat::tab_separated, measure::LogFormat::squid, measure::LogFormat::common,
          measure::LogFormat::json, measure::LogFormat::url_list}) {
        check_line(format, as_text(data, size));
    }
    return 0;
}

/// Client, method, URL, Cache-Status and peer, a line each: for all of them, our access log says of
/// the request only text that can be read back.
int fuzz_access_line(const std::uint8_t* data, std::size_t size) {
    const std::chrono::milliseconds time(1'700'000'000'000 + size);
    auto rest = as_text(data, size);
    proxy::AccessRecord record;
    record.ts = std::chrono::system_clock::time_point(time);
    record.response.status = size % 1000;
    record.response.bytes = size;
    record.response.sent = size + 7;
    record.handling.origin = "10.0.0.1:80";
    record.request.role = size % 2 == 0 ? proxy::Role::client : proxy::Role::peer;
    record.request.client = cut(rest, '\n');
    record.request.method = cut(rest, '\n');
    record.request.url = cut(rest, '\n');
    record.response.cache_status = cut(rest, '\n');
    record.handling.peer = record.request.referer = record.request.user_agent = rest;

    std::string line;
    measure::LineParser json(measure::LogFormat::json);
    const auto exact = read_back(json, line, proxy::AccessFormat::json, record);
    FUZZ_CHECK(exact.time_ms == time.count() && exact.by_peer == (size % 2 == 1));
    FUZZ_CHECK(exact.client == record.request.client && exact.method == record.request.method);
    FUZZ_CHECK(exact.url == record.request.url);
    if (!is_word(record.request.method)) return 0;  // the others end the method at a space

    // A node logs addresses, and a line of another kind of client is left out as uncertain.
    record.request.client = "10.0.0.2";
    line.clear();
    measure::LineParser common(measure::LogFormat::common);
    const auto combined = read_back(common, line, proxy::AccessFormat::combined, record);
    FUZZ_CHECK(combined.time_ms / 1000 == time.count() / 1000);
    FUZZ_CHECK(combined.method == record.request.method && combined.url == record.request.url);

    line.clear();
    measure::LineParser native(measure::LogFormat::squid);
    const auto squid = read_back(native, line, proxy::AccessFormat::squid, record);
    FUZZ_CHECK(squid.time_ms == time.count() && squid.method == record.request.method);
    return 0;
}

/// Each user of an accepted file has a good hash, and the lines read alike in another order.
int fuzz_users_file(const std::uint8_t* data, std::size_t size) {
    const auto text = as_text(data, size);
    const auto read = proxy::parse_users(text, "f");
    FUZZ_CHECK(read.errors.empty() == (read.file != nullptr));
    FUZZ_CHECK(read.errors.size() <= proxy::kMaxShownFaults);
    if (!read.file) return 0;
    FUZZ_CHECK(proxy::judge_hash(read.file->costliest_hash()) == proxy::HashFault::none);
    std::string reversed;
    std::size_t users = 0;
    for (auto rest = text; !rest.empty();) {
        const auto line = cut(rest, '\n');
        reversed = std::string(line) + "\n" + reversed;
        if (line.empty() || line == "\r" || line.starts_with('#')) continue;
        ++users;
        const auto* const hash = read.file->hash_of(line.substr(0, line.find(':')));
        FUZZ_CHECK(hash && proxy::judge_hash(*hash) == proxy::HashFault::none);
    }
    FUZZ_CHECK(read.file->size() == users);
    const auto again = proxy::parse_users(reversed, "f");
    FUZZ_CHECK(again.file && *again.file == *read.file);
    return 0;
}
