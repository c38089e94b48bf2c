#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/config/config.hpp"

namespace proxy {

/// The longest line of a list, in bytes without its end.
inline constexpr std::size_t kMaxListLine = 8192;

/// The targets that an entry covers. The values stand in the file of sorted entries.
enum class EntryKind : std::uint8_t {
    domain,    // the name and all names below it
    host,      // the name alone
    url,       // targets below a path, at the name and all names below it
    url_host,  // nothing itself: there are entries `url` for this name
};

/// An entry in normal form (normal_url.hpp): a name, for `url` with a path. An address has no names
/// below it.
struct ListEntry {
    std::string_view text;
    EntryKind kind;
    unsigned labels;  // of the name; an address has kMaxLabels
};
inline constexpr unsigned kMaxLabels = 127;

/// Reads the lines of published lists. One object reads many lines and keeps its memory. One
/// thread.
class ListLine {
public:
    enum class Result : std::uint8_t {
        entries,
        nothing,  // empty, a comment, or a name of the machine itself in a hosts file
        malformed,
    };

    /// Reads one line without its end. Formats, each with comments from `#` on:
    /// - hosts: an address that leads nowhere (0.0.0.0, 127.0.0.1, ::, ::1), then host names. Names
    ///   such as localhost are left out.
    /// - domains (e2guardian, squidGuard, UT1) and dstdomain (Squid): one domain, or an address.
    /// - urls (e2guardian, squidGuard, UT1): host and path, perhaps after `http://` or `https://`.
    ///   A port is left out. Without a path it is a domain.
    Result read(BlocklistFormat format, std::string_view line);
    /// Of the last line; views until the next one.
    const std::vector<ListEntry>& entries() const { return entries_; }
    /// Why the last line is malformed.
    std::string_view why() const { return why_; }

private:
    Result malformed(std::string_view why);
    Result read_hosts(std::string_view line);
    Result read_domain(std::string_view line, EntryKind without_dot);
    Result read_url(std::string_view line);
    bool append_name(std::string_view host, EntryKind kind);

    std::vector<ListEntry> entries_;
    std::string buffer_, text_;
    std::string_view why_;
};

}  // namespace proxy
