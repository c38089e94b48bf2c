#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace measure {

/// The formats of request logs. `common` stands for Common and Combined, which begin alike. `json`
/// is hearsay's own. `url_list`: a GET for the URL of each line, in any order.
enum class LogFormat { tab_separated, squid, common, json, url_list };
std::string_view to_string(LogFormat);

/// One request of a log. Views point into the line, or into the parser's scratch.
struct LogLine {
    std::int64_t time_ms = 0;  ///< since 1970-01-01 UTC
    std::string_view client;   ///< a number in hearsay's own format, otherwise a name or address
    std::string_view method;
    std::string_view url;   ///< absolute, or only the path in server logs
    std::string_view site;  ///< host or host:port of a URL that is only a path, if the log states
                            ///< it
    unsigned status = 0;    ///< 0 = unknown
    std::uint64_t bytes = 0;
    bool cut_off = false;  ///< the answer is longer than these bytes
    bool by_peer = false;  ///< a peer sent the request, on behalf of a client of its own
};

/// The object size that a line logs. A 304, a partial answer and an aborted answer leave it open.
/// The size of a redirect counts until another line logs the object's own.
enum class LoggedSize : std::uint8_t { none, of_answer, of_object };
LoggedSize logged_size(const LogLine& line);

/// Reasons for refusing a line.
inline constexpr std::string_view kNotThisFormat = "not a line of this format";
inline constexpr std::string_view kUnsureClient =
    "uncertain client (its field has several names, or none)";
inline constexpr std::string_view kUnsureSize =
    "uncertain size (its field is no whole number of bytes)";

/// Parses lines of one format, also behind prefixes that without_prefix() removes. `parse` returns
/// nothing for a line of another format, or with an uncertain client or size; it never guesses. One
/// thread.
/// Sources: traces/README for hearsay's own format; Squid's native access.log; Apache's Common and
/// Combined log formats, also with the virtual host before them (vhost_combined), and their
/// backslash escapes (including nginx's `\xHH`); proxy/telemetry/access_log.hpp for JSON.
class LineParser {
public:
    explicit LineParser(LogFormat format) : format_(format) {}
    std::optional<LogLine> parse(std::string_view line);
    /// The reason why the last line was refused.
    std::string_view why() const { return why_; }
    LogFormat format() const { return format_; }

private:
    std::optional<LogLine> parse_bare(std::string_view line);
    std::optional<LogLine> parse_squid(std::string_view line);
    std::optional<LogLine> parse_common(std::string_view line);
    std::optional<LogLine> parse_json(std::string_view line);

    LogFormat format_;
    std::string_view why_ = kNotThisFormat;
    std::string unescaped_, client_, method_;
};

}  // namespace measure
