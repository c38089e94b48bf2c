#include "proxy/blocklists/list_line.hpp"

#include <algorithm>
#include <array>

#include "proxy/blocklists/normal_url.hpp"
#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

/// The addresses that send a host nowhere.
constexpr std::array<std::string_view, 7> kNowhere{
    "0.0.0.0", "127.0.0.1", "::", "::1", "0", "0:0:0:0:0:0:0:0", "0:0:0:0:0:0:0:1"};

/// The names that a hosts file gives the machine itself and its networks.
constexpr std::array<std::string_view, 14> kOwnNames{"localhost",     "localhost.localdomain",
                                                     "local",         "broadcasthost",
                                                     "ip6-localhost", "ip6-loopback",
                                                     "ip6-localnet",  "ip6-mcastprefix",
                                                     "ip6-allnodes",  "ip6-allrouters",
                                                     "ip6-allhosts",  "localhost4",
                                                     "localhost6",    "0.0.0.0"};

template <class List>
bool is_in(const List& list, std::string_view text) {
    return std::find(list.begin(), list.end(), text) != list.end();
}

bool is_blank(char c) {
    return static_cast<unsigned char>(c) <= ' ';
}

/// Takes the first word off the text. Empty: there is none.
std::string_view take_word(std::string_view& text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    std::size_t end = 0;
    while (end < text.size() && !is_blank(text[end])) ++end;
    const auto word = text.substr(0, end);
    text.remove_prefix(end);
    return word;
}

/// The line before a comment. A `#` within a word belongs to it, because URLs have fragments.
std::string_view without_comment(std::string_view line) {
    for (auto at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1))
        if (at == 0 || is_blank(line[at - 1])) return line.substr(0, at);
    return line;
}

unsigned labels_of(std::string_view name) {
    return 1 + static_cast<unsigned>(std::ranges::count(name, '.'));
}

/// `host[:port]` becomes the host. False for anything else.
bool take_host(std::string_view& authority) {
    if (authority.starts_with('[')) {
        const auto close = authority.find(']');
        if (close == std::string_view::npos) return false;
        authority = authority.substr(0, close + 1);
        return true;
    }
    const auto colon = authority.find(':');
    if (colon == std::string_view::npos) return true;
    const auto port = authority.substr(colon + 1);
    authority = authority.substr(0, colon);
    return !port.empty() && port.size() <= 5 &&
           std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
}

constexpr std::string_view kNoHost = "no host name";

}  // namespace

ListLine::Result ListLine::malformed(std::string_view why) {
    entries_.clear();
    why_ = why;
    return Result::malformed;
}

ListLine::Result ListLine::read(BlocklistFormat format, std::string_view line) {
    entries_.clear();
    text_.clear();
    if (line.size() > kMaxListLine) return malformed("too long");
    line = without_comment(line);
    switch (format) {
        case BlocklistFormat::hosts:
            return read_hosts(line);
        case BlocklistFormat::domains:
            return read_domain(line, EntryKind::domain);
        case BlocklistFormat::dstdomain:
            return read_domain(line, EntryKind::host);
        case BlocklistFormat::urls:
            return read_url(line);
    }
    return malformed("unknown format");
}

/// Adds an entry of a name alone, whose text stays in `text_` or in the line. False: it is none.
bool ListLine::append_name(std::string_view host, EntryKind kind) {
    if (const auto labels = labels_of_plain_name(host); labels > 0) {
        entries_.push_back({host, kind, labels});
        return true;
    }
    const auto normal = normal_host(host, buffer_);
    if (!normal.is_address && !is_name(normal.text)) return false;
    auto text = normal.text;
    if (text.data() == buffer_.data()) {
        // Room for all names of a line was reserved, so that the views of earlier ones stay good.
        text_.append(text);
        text = std::string_view(text_).substr(text_.size() - text.size());
    }
    entries_.push_back({text, kind, normal.is_address ? kMaxLabels : labels_of(text)});
    return true;
}

ListLine::Result ListLine::read_hosts(std::string_view line) {
    const auto address = take_word(line);
    if (address.empty()) return Result::nothing;
    // IDNA makes a name at most so much longer.
    text_.reserve(2 * line.size() + 2 * kMaxNameBytes);
    auto is_own = false, is_named = false;
    for (auto name = take_word(line); !name.empty(); name = take_word(line)) {
        is_named = true;
        if (is_in(kOwnNames, name)) {
            is_own = true;
        } else if (text_.capacity() - text_.size() < kMaxNameBytes ||
                   !append_name(name, EntryKind::host)) {
            return malformed(kNoHost);
        }
    }
    if (!is_in(kNowhere, address)) {
        const auto is_of_machine = is_own && entries_.empty();
        entries_.clear();
        return is_of_machine ? Result::nothing
                             : malformed("not an address that leads nowhere, such as 0.0.0.0");
    }
    if (!is_named) return malformed("an address without a host name");
    return entries_.empty() ? Result::nothing : Result::entries;
}

ListLine::Result ListLine::read_domain(std::string_view line, EntryKind without_dot) {
    auto name = take_word(line);
    if (name.empty()) return Result::nothing;
    if (!take_word(line).empty()) return malformed("more than one word");
    const auto has_dot = name.starts_with('.');
    if (has_dot) name.remove_prefix(1);
    text_.reserve(kMaxListLine);
    if (!append_name(name, has_dot ? EntryKind::domain : without_dot)) return malformed(kNoHost);
    return Result::entries;
}

ListLine::Result ListLine::read_url(std::string_view line) {
    auto url = take_word(line);
    if (url.empty()) return Result::nothing;
    if (!take_word(line).empty()) return malformed("more than one word");
    for (const std::string_view scheme : {"http://", "https://", "//"})
        if (url.size() >= scheme.size() && iequals(url.substr(0, scheme.size()), scheme)) {
            url.remove_prefix(scheme.size());
            break;
        }
    auto host = url.substr(0, url.find_first_of("/?#"));
    const auto path = url.substr(host.size());
    if (host.starts_with('.')) host.remove_prefix(1);
    if (host.find('@') != std::string_view::npos || !take_host(host)) return malformed(kNoHost);
    text_.reserve(2 * kMaxListLine);
    if (!append_name(host, EntryKind::domain)) return malformed(kNoHost);
    const auto name = entries_.front();
    const auto begin = text_.size();
    text_.append(name.text);
    append_normal_path(text_, path);
    const auto text = std::string_view(text_).substr(begin);
    if (text.size() == name.text.size()) return Result::entries;
    const auto boundaries = std::ranges::count_if(text, is_path_boundary);
    if (static_cast<std::size_t>(boundaries) > kMaxPathBoundaries || text.size() > kMaxListLine)
        return malformed("too deep a path");
    entries_.front().kind = EntryKind::url_host;
    entries_.push_back({text, EntryKind::url, name.labels});
    return Result::entries;
}

}  // namespace proxy
