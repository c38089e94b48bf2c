#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace measure {

/// The request logs we read; `common` stands for Common and Combined, which begin alike, `json` for
/// hearsay's own.
enum class LogFormat { tab_separated, squid, common, json };
std::string_view to_string(LogFormat);

/// One request of a log. Views point into the line, or into the parser's scratch.
struct LogLine {
    std::int64_t time_ms = 0;  ///< since 1970-01-01 UTC
    std::string_view client;   ///< a number in our own format, otherwise a name or address
    std::string_view method;
    std::string_view url;   ///< absolute, or only the path in server logs
    std::string_view site;  ///< host or host:port that such a path is of, where the log tells it
    unsigned status = 0;    ///< 0 = unknown
    std::uint64_t bytes = 0;
    bool cut_off = false;  ///< the bytes are not all that the answer has
    bool by_peer = false;  ///< no client's request, but one that a peer made for its own
};

/// What a line's bytes are worth: a 304, a part or an answer that broke off tells no size; a
/// redirect tells its own, which is the object's where no line shows more.
enum class SizeTold : std::uint8_t { nothing, by_itself, of_object };
SizeTold size_told(const LogLine& line);

/// Why a line is refused.
inline constexpr std::string_view kNotThisFormat = "not a line of this format";
inline constexpr std::string_view kUnsureClient =
    "not certain who the client is (its place holds more than one name, or none)";

/// Takes lines of one format apart, also behind what without_prefix() knows. One thread; `parse`
/// answers nothing when the line is not of this format, or leaves open who the client is: nothing
/// is guessed. Sources: traces/README of our format; Squid's native access.log; Apache's Common
/// and Combined log formats, also with the virtual host before them (vhost_combined), with their
/// backslash escapes (nginx's `\xHH` are among them); the JSON of proxy/telemetry/access_log.hpp.
class LineParser {
public:
    explicit LineParser(LogFormat format) : format_(format) {}
    std::optional<LogLine> parse(std::string_view line);
    /// Of the last line, if it was refused.
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
