// Files that a person gives us: the configuration, and request logs.

#include "measure/log_line.hpp"
#include "proxy/config.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <string>

namespace {

std::optional<std::string> environment(const std::string& name) {
    if (name == "KEY") return std::string(32, 'k');
    return std::nullopt;
}

/// What is printed hides the keys; these stand in for them.
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
    // What is printed says the same when it is read.
    const auto printed = proxy::effective_config(*result.config);
    const auto again = proxy::parse_config(with_keys(printed), environment);
    FUZZ_CHECK(again.config && proxy::effective_config(*again.config) == printed);
    return 0;
}

int fuzz_trace_line(const std::uint8_t* data, std::size_t size) {
    for (const auto format : {measure::LogFormat::tab_separated, measure::LogFormat::squid,
                              measure::LogFormat::common, measure::LogFormat::json}) {
        check_line(format, as_text(data, size));
    }
    return 0;
}
