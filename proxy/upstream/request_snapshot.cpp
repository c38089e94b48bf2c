#include "proxy/upstream/request_snapshot.hpp"

#include <algorithm>
#include <boost/beast/http/field.hpp>
#include <utility>

#include "base/text/short_text.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/forwarded.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/rewrite/mirror.hpp"
#include "proxy/rewrite/tag_mark.hpp"

namespace proxy {
namespace {

using namespace std::string_view_literals;  // appended without counting
using boost::beast::http::field;

/// Written anew for each hop.
bool per_hop(const Field& line) {
    return line.id == field::host || line.id == field::expect || line.id == field::content_length;
}

/// If-Range is none: with the tag of a rewritten body the origin sends a whole one, which is right.
bool is_tag_condition(const Field& line) {
    return line.id == field::if_none_match || line.id == field::if_match;
}

/// The same for lines of this node: conditions, or a range of a body that was not rewritten.
std::string lines_for_origin(const Mirror& mirror, std::string_view lines) {
    return lines.find("If-Range:") == std::string_view::npos
               ? tags_for_origin(lines, mirror.mark_text)
               : std::string(lines);
}

/// A rule that takes `traceparent` away, or sets it, has the last word.
void append_trace(std::string& out, const RequestSnapshot& request, const TraceContext& trace) {
    const auto* const rule = request.policy().rule;
    const auto by_rule = [rule](std::string_view name) {
        return rule && rule->request_fields.takes_away(name);
    };
    if (!by_rule(kTraceparent)) append_trace_line(out, trace);
    if (!by_rule(kTracestate)) out.append(request.trace_lines);
}

/// Copies `text` to `at`, which is its end afterwards, and returns the copy.
std::string_view put(char*& at, std::string_view text) {
    at = std::ranges::copy(text, at).out;
    return {at - text.size(), text.size()};
}

/// The beginning of Via, by the protocol in which the request came (RFC 9110 §7.6.3).
std::string_view via(int version) {
    if (version >= 20) return "Via: 2.0 "sv;
    return version == 10 ? "Via: 1.0 "sv : "Via: 1.1 "sv;
}

}  // namespace

RequestSnapshot::RequestSnapshot(const Head& request, const CacheKey& target, bool whole,
                                 KeptSite chosen)
    : kept(std::move(chosen)),
      key(target),
      version(request.version),
      // After a HEAD the store needs the content, which only a GET brings.
      method(whole && request.verb == boost::beast::http::verb::head ? "GET" : request.method) {
    // Not as this client wrote it (with a default port, say): an origin that builds redirects by it
    // would have them stored for all.
    const auto* const mirror = policy().mirror;
    host = mirror ? std::string_view(mirror->origin.authority) : key.authority();
    if (mirror) path = mirror->path_at_origin(key.path());
    keep_fields(request, whole);
}

/// The lines stand in one piece of memory: first those for all, then those for origins alone.
void RequestSnapshot::keep_fields(const Head& request, bool whole) {
    const auto* const mirror = policy().mirror;
    const HopByHop hop_by_hop(request.fields);
    std::size_t bytes = 0, forwarded_bytes = 0;
    for (const auto& line : request.fields) {
        const auto size = line.name.size() + line.value.size() + 4;
        (is_forwarded_field(line) ? forwarded_bytes : bytes) += size;
    }
    if (bytes + forwarded_bytes == 0) return;
    texts_ = std::make_unique_for_overwrite<char[]>(bytes + forwarded_bytes);  // some is left out
    auto* const forwarded_begin = texts_.get() + bytes;
    auto *end = texts_.get(), *forwarded_end = forwarded_begin;
    fields.reserve(request.fields.size());
    for (const auto& line : request.fields) {
        // A client cannot take this node's own statements away by a connection option.
        const auto is_forwarded = is_forwarded_field(line);
        if (!is_forwarded &&
            (hop_by_hop(line) || per_hop(line) || (whole && is_condition_or_range(line))))
            continue;
        auto*& at = is_forwarded ? forwarded_end : end;
        const auto name = put(at, line.name);
        put(at, ": "sv);
        const auto value = mirror && is_tag_condition(line)
                               ? put(at, tags_for_origin(line.value, mirror->mark_text))  // shorter
                               : put(at, line.value);
        put(at, "\r\n"sv);
        fields.push_back({line.id, name, value});
    }
    text = {texts_.get(), end};
    forwarded = {forwarded_begin, forwarded_end};
}

CacheKey RequestSnapshot::url_at_origin() const {
    auto url = key;
    if (const auto* const mirror = policy().mirror)
        url.assign_url(mirror->url_at_origin(key.path()));
    return url;
}

std::string origin_request(const RequestSnapshot& request, const UpstreamTarget& to,
                           std::string_view node, std::string_view extra_lines,
                           const TraceContext& trace) {
    const auto to_parent = to.via != nullptr && !to.through_tunnel();
    std::string text;
    text.reserve(request.text.size() + request.forwarded.size() + request.key.uri().size() +
                 extra_lines.size() + 96);
    base::ShortText out(text);
    out.append(request.method).append(" "sv);
    if (to_parent) out.append("http://"sv).append(request.host);
    const auto path = request.target();
    out.append(to_parent && path == "*" ? ""sv : std::string_view(path))  // RFC 9112 §3.2.4
        .append(" HTTP/1.1\r\nHost: "sv);
    out.append(request.host).append("\r\n"sv).append(request.text);
    if (to_parent && !to.via->credentials.empty())
        out.append("Proxy-Authorization: Basic "sv).append(to.via->credentials).append("\r\n"sv);
    const auto* const mirror = request.policy().mirror;
    out.append(request.forwarded);
    if (mirror && !extra_lines.empty())
        out.append(lines_for_origin(*mirror, extra_lines));
    else
        out.append(extra_lines);
    if (trace.valid()) {
        out.flush();
        append_trace(text, request, trace);
    }
    if (!node.empty()) out.append(via(request.version)).append(node).append("\r\n"sv);
    out.append("\r\n"sv).flush();
    return text;
}

}  // namespace proxy
