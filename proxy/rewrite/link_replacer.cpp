#include "proxy/rewrite/link_replacer.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

/// White space that an attribute may have around its `=`; more is no attribute here.
constexpr std::size_t kMaxSpace = 8;

bool is_alnum(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_one_of(char c, std::string_view set) {
    return set.find(c) != std::string_view::npos;
}

bool is_space(char c) {
    return is_one_of(c, " \t\r\n\f");
}

bool is_authority_byte(char c) {
    return is_alnum(c) || is_one_of(c, "-.:[]_@%~");
}

/// What may follow a host, and a path that is replaced as a whole.
bool ends_prefix(char c) {
    return is_space(c) || is_one_of(c, "/\\\"'<>?#)");
}

/// Each byte that can begin a match.
constexpr std::array<bool, 256> kStarts = [] {
    std::array<bool, 256> starts{};
    for (const unsigned char c : std::string_view("hHsSaA/\\\"")) starts[c] = true;
    return starts;
}();

/// The length of `/` or `\/` at `at`; 0: neither; nothing: the text ends before it is decided.
std::optional<std::size_t> slash_at(std::string_view text, std::size_t at, bool last) {
    if (at >= text.size()) return last ? std::optional<std::size_t>(0) : std::nullopt;
    if (text[at] == '/') return 1;
    if (text[at] != '\\') return 0;
    if (at + 1 >= text.size()) return last ? std::optional<std::size_t>(0) : std::nullopt;
    return text[at + 1] == '/' ? 2 : 0;
}

/// A path without the escapes of its slashes, as far as it decides.
struct ReadPath {
    std::string text;
    std::vector<std::size_t> ends;  // the place in the body behind each byte of `text`
};

/// Reads up to `most` bytes; nothing: the body goes on where the path does.
std::optional<ReadPath> read_path(std::string_view body, std::size_t at, std::size_t most,
                                  bool last) {
    ReadPath path;
    while (path.text.size() < most) {
        const auto slash = slash_at(body, at, last);
        if (!slash) return std::nullopt;
        if (*slash == 0 && at >= body.size()) return path;
        const auto is_plain = *slash > 0 || is_alnum(body[at]) || is_one_of(body[at], "-._~%");
        // Any other byte may still belong to a segment, which is then another one.
        if (!is_plain && !ends_prefix(body[at])) path.text.push_back('+');
        if (!is_plain) return path;
        path.text.push_back(*slash > 0 ? '/' : body[at]);
        at += std::max<std::size_t>(*slash, 1);
        path.ends.push_back(at);
    }
    return path;
}

std::string in_form(std::string_view url, bool escaped) {
    if (!escaped) return std::string(url);
    std::string out;
    for (const char c : url) out.append(c == '/' ? "\\/" : std::string(1, c));
    return out;
}

}  // namespace

/// The decision about one place of the text.
struct LinkReplacer::Match {
    enum class Kind : std::uint8_t { none, more, found } kind = Kind::none;
    std::size_t keep = 0;  // bytes before the replaced ones
    std::size_t drop = 0;
    std::string insert = {};
};

LinkReplacer::LinkReplacer(std::shared_ptr<const MirrorTable> all, const Mirror& of,
                           LinkSyntax syntax, Scheme base_scheme, std::string base_authority)
    : all_(std::move(all)),
      of_(of),
      syntax_(syntax),
      base_scheme_(base_scheme),
      base_authority_(std::move(base_authority)),
      moves_root_(of_.here.path != of_.origin.path || !of_.origin.path.empty() ||
                  base_authority_ != of_.origin.authority) {}

void LinkReplacer::replace(std::string_view& in, bool last, std::string& out) {
    const auto taken = in.substr(0, kStep);
    in.remove_prefix(taken.size());
    last = last && in.empty();
    held_.append(taken);
    const std::string_view text = held_;
    std::size_t done = 0, at = 0;
    while (at < text.size()) {
        if (!kStarts[static_cast<unsigned char>(text[at])]) {
            ++at;
            continue;
        }
        const auto match = match_at(text, at, last);
        if (match.kind == Match::Kind::more) break;
        if (match.kind == Match::Kind::none) {
            ++at;
            continue;
        }
        out.append(text.substr(done, at + match.keep - done)).append(match.insert);
        done = at = at + match.keep + match.drop;
    }
    out.append(text.substr(done, at - done));
    if (at > 0) before_ = text[at - 1];
    held_.erase(0, at);
}

void LinkReplacer::give_back(std::string& out) {
    out.append(held_);
    held_.clear();
}

LinkReplacer::Match LinkReplacer::match_at(std::string_view text, std::size_t at, bool last) const {
    const auto c = text[at];
    if (c == '/' || c == '\\') return match_network_path(text, at, last);
    if (c == '"') return syntax_ == LinkSyntax::json ? match_member(text, at, last) : Match{};
    if (c == 'h' || c == 'H') {
        auto match = match_address(text, at, last);
        if (match.kind != Match::Kind::none) return match;
    }
    return syntax_ == LinkSyntax::html ? match_attribute(text, at, last) : Match{};
}

/// `http://` or `https://`, and an authority.
LinkReplacer::Match LinkReplacer::match_address(std::string_view text, std::size_t at,
                                                bool last) const {
    const auto before = at == 0 ? before_ : text[at - 1];
    if (is_alnum(before) || is_one_of(before, "+-.")) return {};
    constexpr std::string_view kHttp = "http";
    const auto start = text.substr(at, kHttp.size());
    if (!iequals(start, kHttp.substr(0, start.size()))) return {};
    const Match more{last ? Match::Kind::none : Match::Kind::more};
    auto next = at + kHttp.size();
    if (next >= text.size()) return more;
    const auto secure = text[next] == 's' || text[next] == 'S';
    if (secure) ++next;
    if (next >= text.size()) return more;
    if (text[next++] != ':') return {};
    const auto first = slash_at(text, next, last);
    if (!first) return more;
    const auto second = *first == 0 ? first : slash_at(text, next + *first, last);
    if (!second) return more;
    if (*second == 0) return {};
    return match_authority(text, at, next + *first + *second, secure ? Scheme::https : Scheme::http,
                           *first == 2, last);
}

/// `//` and an authority, with the scheme of the response. A quote or its like stands before it.
LinkReplacer::Match LinkReplacer::match_network_path(std::string_view text, std::size_t at,
                                                     bool last) const {
    const auto before = at == 0 ? before_ : text[at - 1];
    if (!is_space(before) && !is_one_of(before, "\"'=(")) return {};
    const Match more{last ? Match::Kind::none : Match::Kind::more};
    const auto first = slash_at(text, at, last);
    if (!first) return more;
    const auto second = *first == 0 ? first : slash_at(text, at + *first, last);
    if (!second) return more;
    if (*second == 0) return {};
    return match_authority(text, at, at + *first + *second, base_scheme_, *first == 2, last);
}

/// An authority that begins at `at`, and the path behind it. The match begins at `begin`.
LinkReplacer::Match LinkReplacer::match_authority(std::string_view text, std::size_t begin,
                                                  std::size_t at, Scheme scheme, bool escaped,
                                                  bool last) const {
    const Match more{last ? Match::Kind::none : Match::Kind::more};
    const auto most = all_->longest_authority();
    auto end = at;
    while (end < text.size() && end - at <= most && is_authority_byte(text[end])) ++end;
    if (end == at && end < text.size()) return {};
    if (end - at > most) return {};
    if (end == text.size() && !last) return more;
    if (end < text.size() && !ends_prefix(text[end])) return {};
    std::string authority;
    append_lower(authority, text.substr(at, end - at));
    if (!all_->find_site(scheme, authority)) return {};
    const auto path = read_path(text, end, all_->longest_path() + 1, last);
    if (!path) return more;
    const auto* const mirror = all_->find_address(scheme, authority, path->text);
    if (!mirror) return {};
    const auto length = mirror->origin.path.size();
    const auto to = length == 0 ? end : path->ends[length - 1];
    return {Match::Kind::found, 0, to - begin, in_form(mirror->here_text, escaped)};
}

/// `href="/...`, `src=`, `action=`; the quotes may be missing.
LinkReplacer::Match LinkReplacer::match_attribute(std::string_view text, std::size_t at,
                                                  bool last) const {
    if (!moves_root_) return {};
    const auto before = at == 0 ? before_ : text[at - 1];
    if (!is_space(before) && !is_one_of(before, "\"'/")) return {};
    const Match more{last ? Match::Kind::none : Match::Kind::more};
    for (const std::string_view name : {"href", "src", "action"}) {
        const auto start = text.substr(at, name.size());
        if (!iequals(start, name.substr(0, start.size()))) continue;
        auto next = at + name.size();
        const auto skip_space = [&] {
            const auto limit = next + kMaxSpace;
            while (next < text.size() && next < limit && is_space(text[next])) ++next;
            return next < text.size();
        };
        if (!skip_space()) return more;
        if (text[next] != '=') return {};
        ++next;
        if (!skip_space()) return more;
        if (text[next] == '"' || text[next] == '\'') ++next;
        auto match = match_root(text, next, last);
        match.keep += next - at;
        return match;
    }
    return {};
}

/// `"url": "/...`, and `"xetHash":`
LinkReplacer::Match LinkReplacer::match_member(std::string_view text, std::size_t at,
                                               bool last) const {
    constexpr std::string_view kUrl = "\"url\"", kXet = "\"xetHash\"";
    const auto is_xet = of_.xet && text.substr(at, 2) == kXet.substr(0, 2);
    if (!moves_root_ && !of_.xet) return {};
    const Match more{last ? Match::Kind::none : Match::Kind::more};
    if (at + 1 == text.size()) return more;
    if (!moves_root_ && !is_xet) return {};
    const auto name = is_xet ? kXet : kUrl;
    const auto start = text.substr(at, name.size());
    if (start != name.substr(0, start.size())) return {};
    auto next = at + name.size();
    const auto skip_space = [&] {
        const auto limit = next + kMaxSpace;
        while (next < text.size() && next < limit && is_space(text[next])) ++next;
        return next < text.size();
    };
    if (!skip_space()) return more;
    if (text[next++] != ':') return {};
    if (is_xet) return {Match::Kind::found, 0, name.size(), "\"xetHashAtOrigin\""};
    if (!skip_space()) return more;
    if (text[next++] != '"') return {};
    auto match = match_root(text, next, last);
    match.keep += next - at;
    return match;
}

/// A path from the root of the origin. One that no mirror covers is made absolute.
LinkReplacer::Match LinkReplacer::match_root(std::string_view text, std::size_t at,
                                             bool last) const {
    const Match more{last ? Match::Kind::none : Match::Kind::more};
    const auto first = slash_at(text, at, last);
    if (!first) return more;
    if (*first == 0) return {};
    const auto second = slash_at(text, at + *first, last);
    if (!second) return more;
    if (*second > 0 || (at + *first < text.size() && text[at + *first] == '\\')) return {};
    const auto escaped = *first == 2;
    const auto path = read_path(text, at, all_->longest_path() + 1, last);
    if (!path) return more;
    const auto* const mirror = all_->find_address(base_scheme_, base_authority_, path->text);
    if (!mirror) {
        auto base = std::string(to_string(base_scheme_)).append("://").append(base_authority_);
        return {Match::Kind::found, 0, 0, in_form(base, escaped)};
    }
    const auto length = mirror->origin.path.size();
    const auto is_near =
        mirror->here.scheme == of_.here.scheme && mirror->here.authority == of_.here.authority;
    if (is_near && mirror->here.path == mirror->origin.path) return {};
    const auto to = length == 0 ? at : path->ends[length - 1];
    // A mirror at the root would leave what follows, and `//host`, or `/` and a backslash, is
    // another host.
    const auto needs_host = !is_near || mirror->here.path.empty();
    auto insert = needs_host ? mirror->here_text : mirror->here.path;
    if (mirror->here.path.empty() && !std::string_view(path->text).substr(length).starts_with('/'))
        insert.push_back('/');
    return {Match::Kind::found, 0, to - at, in_form(insert, escaped)};
}

}  // namespace proxy
