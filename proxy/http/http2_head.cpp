#include "proxy/http/http2_head.hpp"

#include <algorithm>
#include <boost/beast/http/verb.hpp>

#include "base/memory/kept_memory.hpp"
#include "base/text/number.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;
using boost::beast::http::verb;

constexpr std::string_view kCrumbEnd = "; ";

/// Bytes beside name and value that a line counts for in a list of fields (RFC 9113 §6.5.2).
constexpr std::size_t kLineBytes = 32;

/// A target ends at the first space or control character of an HTTP/1.1 request line.
bool has_space_or_control(std::string_view text) {
    return has_control(text, ' ' + 1);
}

bool has_upper_case(std::string_view name) {
    return std::ranges::any_of(name, [](char c) { return c >= 'A' && c <= 'Z'; });
}

/// White space around a value would become a part of another value (RFC 9113 §8.2.1).
bool is_padded(std::string_view value) {
    return trim(value).size() < value.size();
}

/// Fields of the connection, which HTTP/2 has frames for (RFC 9113 §8.2.2).
bool is_of_connection(field id, std::string_view name) {
    switch (id) {
        case field::connection:
        case field::proxy_connection:
        case field::keep_alive:
        case field::transfer_encoding:
        case field::upgrade:
            return true;
        default:
            return name == "http2-settings";
    }
}

/// A host without the port that the scheme has anyway (RFC 9110 §4.2.3).
std::string_view without_default_port(std::string_view host, std::string_view scheme) {
    const std::string_view port = scheme == "http" ? ":80" : scheme == "https" ? ":443" : "";
    if (!port.empty() && host.ends_with(port)) host.remove_suffix(port.size());
    return host;
}

}  // namespace

void Http2Head::clear() {
    text_.clear();
    lines_.clear();
    cookies_.clear();
    method_ = path_ = authority_ = scheme_ = protocol_ = {};
    crumbs_ = 0;
    length_.reset();
    error_ = ParseError::ok;
}

Http2Head::Text Http2Head::keep(std::string_view text) {
    const Text kept{text_.size(), text.size()};
    text_.append(text);
    return kept;
}

void Http2Head::add(std::string_view name, std::string_view value, const HeadLimits& limits) {
    if (error_ != ParseError::ok) return;
    const auto bytes = text_.size() + name.size() + value.size() + kLineBytes * (lines_.size() + 1);
    if (name == ":path" && value.size() > limits.request_line_bytes)
        return fail(ParseError::target_too_long);
    const auto is_crumb = name == "cookie";
    if (is_crumb) ++crumbs_;
    const auto lines = lines_.size() - (crumbs_ > 1 ? crumbs_ - 1 : 0);
    if (bytes > limits.head_bytes || lines >= limits.lines) return fail(ParseError::head_too_large);
    if (name.starts_with(':')) return add_pseudo(name, value);
    Line line;
    line.id = boost::beast::http::string_to_field({name.data(), name.size()});
    line.name = keep(name);
    line.value = keep(value);
    lines_.push_back(line);
}

void Http2Head::add_pseudo(std::string_view name, std::string_view value) {
    auto* const place = name == ":method"      ? &method_
                        : name == ":path"      ? &path_
                        : name == ":authority" ? &authority_
                        : name == ":scheme"    ? &scheme_
                        : name == ":protocol"  ? &protocol_
                                               : nullptr;
    // Unknown, repeated, or behind an ordinary field (RFC 9113 §8.3).
    if (!place || place->size > 0 || !lines_.empty()) return fail(ParseError::bad_request_line);
    *place = keep(value);
}

ParseError Http2Head::finish(Head& head) {
    head.method = text_of(method_);
    head.verb = boost::beast::http::string_to_verb({head.method.data(), head.method.size()});
    head.target = text_of(path_);
    head.version = 20;
    head.fields.clear();
    if (error_ != ParseError::ok) return error_;
    if (!is_token(head.method)) return ParseError::bad_request_line;
    if (const auto bad = judge_target(head); bad != ParseError::ok) return bad;
    if (const auto bad = put_host(head); bad != ParseError::ok) return bad;
    for (const auto& line : lines_) {
        const Field field{line.id, text_of(line.name), text_of(line.value)};
        if (const auto bad = judge_line(field); bad != ParseError::ok) return bad;
        if (field.id != field::host) head.fields.push_back(field);
    }
    if (crumbs_ > 1) join_cookies(head);
    return ParseError::ok;
}

ParseError Http2Head::judge_line(const Field& line) {
    if (!is_token(line.name) || has_upper_case(line.name)) return ParseError::bad_field;
    if (has_forbidden_octet(line.value) || is_padded(line.value)) return ParseError::bad_value;
    if (is_of_connection(line.id, line.name)) return ParseError::bad_field;
    if (line.id == field::te && !iequals(line.value, "trailers")) return ParseError::bad_field;
    if (line.id == field::content_length) {
        const auto length = base::parse_number(line.value);
        if (!length || *length > kMaxMessageBody || length_) return ParseError::bad_length;
        length_ = length;
    }
    return ParseError::ok;
}

/// A target for this request, in a form that HTTP/1.1 has.
ParseError Http2Head::judge_target(Head& head) const {
    const auto path = text_of(path_);
    const auto tunnel = head.verb == verb::connect && protocol_.size == 0;
    if (tunnel) {
        if (path_.size > 0 || scheme_.size > 0 || authority_.size == 0)
            return ParseError::bad_request_line;
        head.target = text_of(authority_);
        return has_space_or_control(head.target) ? ParseError::bad_target : ParseError::ok;
    }
    if (protocol_.size > 0 && head.verb != verb::connect) return ParseError::bad_request_line;
    if (scheme_.size == 0) return ParseError::bad_request_line;
    const auto whole = path == "*" && head.verb == verb::options;
    if (!path.starts_with('/') && !whole) return ParseError::bad_target;
    if (path.find('#') != std::string_view::npos || has_space_or_control(path))
        return ParseError::bad_target;
    return ParseError::ok;
}

/// `:authority` and Host state the same (RFC 9113 §8.3.1). One of them has to be there.
ParseError Http2Head::put_host(Head& head) const {
    std::optional<std::string_view> host;
    if (authority_.size > 0) host = text_of(authority_);
    for (const auto& line : lines_) {
        if (line.id != field::host) continue;
        const auto stated = text_of(line.value);
        const auto same = !host || iequals(without_default_port(*host, scheme()),
                                           without_default_port(stated, scheme()));
        if (!same) return ParseError::host_count;
        host = stated;
    }
    if (!host) return ParseError::host_count;
    if (!is_valid_host(*host)) return ParseError::bad_host;
    head.fields.push_back({field::host, "Host", *host});
    return ParseError::ok;
}

/// An HTTP/1.1 origin reads one line of Cookie (RFC 6265 §5.4).
void Http2Head::join_cookies(Head& head) {
    for (const auto& line : head.fields) {
        if (line.id != field::cookie || line.value.empty()) continue;
        if (!cookies_.empty()) cookies_.append(kCrumbEnd);
        cookies_.append(line.value);
    }
    const auto first = std::ranges::find(head.fields, field::cookie, &Field::id);
    first->value = cookies_;
    head.fields.erase(std::remove_if(std::next(first), head.fields.end(),
                                     [](const Field& line) { return line.id == field::cookie; }),
                      head.fields.end());
}

std::size_t Http2Head::kept_bytes() const {
    return base::kept_bytes(text_) + base::kept_bytes(cookies_) + base::kept_bytes(lines_);
}

void Http2Head::give_back() {
    clear();
    base::give_back(text_);
    base::give_back(cookies_);
    base::give_back(lines_);
}

}  // namespace proxy
