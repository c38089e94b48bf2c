#include "proxy/rewrite/head_rewrite.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "proxy/http/field_list.hpp"
#include "proxy/http/redirects.hpp"
#include "proxy/http/reference.hpp"
#include "proxy/rewrite/request_rewrite.hpp"
#include "proxy/rewrite/tag_mark.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;

/// Fields by which a client checks the very bytes of the body, or a part of them.
constexpr std::array<std::string_view, 7> kOfBytes{
    "Docker-Content-Digest", "Repr-Digest", "Content-Digest", "Digest",
    "Content-MD5",           "Signature",   "Signature-Input"};
/// Checksums that stores of files state about all that they have, and few clients look at.
constexpr std::array<std::string_view, 3> kChecksumBegins{"X-Checksum-", "X-Amz-Checksum-",
                                                          "X-Goog-Hash"};
/// Fields by which the origin speaks of its own host, which is another one for clients.
constexpr std::array<std::string_view, 6> kOfHost{
    "Strict-Transport-Security", "Alt-Svc",   "Clear-Site-Data",
    "Public-Key-Pins",           "Report-To", "NEL"};

/// The most that the rewritten fields of a head have, as a reference of one byte may become a long
/// URL. What is beyond stays as the origin sent it.
constexpr std::size_t kMostRewrittenBytes = 64 * 1024;

template <class Names>
bool has_name_of(const Names& names, std::string_view name) {
    return std::ranges::any_of(names, [&](std::string_view one) { return iequals(one, name); });
}

bool has_scheme(std::string_view reference) {
    return reference.find(':') < reference.find_first_of("/?#");
}

std::string_view before_parameters(std::string_view value) {
    return trim(value.substr(0, value.find(';')));
}

bool forbids_transforming(Fields response) {
    FieldMembers directives(response, field::cache_control);
    while (const auto one = directives.next())
        if (iequals(*one, "no-transform")) return true;
    return false;
}

/// A rewritten body has another one.
bool is_checksum(const Field& line) {
    return std::ranges::any_of(kChecksumBegins, [&](std::string_view begin) {
        return iequals(line.name.substr(0, begin.size()), begin);
    });
}

/// A manifest or blob of a registry of container images, by its path: clients check its digest.
bool is_of_image(std::string_view path) {
    const auto rest = path.substr(std::min(path.find("/v2/"), path.size()));
    return rest.find("/manifests/") != std::string_view::npos ||
           rest.find("/blobs/") != std::string_view::npos;
}

/// The very bytes of the body count: they have a digest or a signature. `type`: lower case.
bool is_under_digest(Fields response, std::string_view type, std::string_view path) {
    return type.starts_with("application/vnd.oci.") ||
           type.starts_with("application/vnd.docker.") || is_of_image(path) ||
           std::ranges::any_of(response,
                               [](const Field& line) { return has_name_of(kOfBytes, line.name); });
}

/// none: another coding, or several.
std::optional<bool> is_gzip(Fields response) {
    std::optional<bool> result = false;
    FieldMembers codings(response, field::content_encoding);
    while (const auto one = codings.next()) {
        if (iequals(*one, "identity")) continue;
        const auto known = iequals(*one, "gzip") || iequals(*one, "x-gzip");
        if (!known || *result) return std::nullopt;
        result = true;
    }
    return result;
}

std::optional<std::uint64_t> stated_length(Fields response) {
    const auto text = only_value(response, field::content_length);
    std::uint64_t length = 0;
    const auto* const end = text.data() + text.size();
    if (text.empty() || std::from_chars(text.data(), end, length).ptr != end) return std::nullopt;
    return length;
}

std::optional<BodyRewrite> body_rewrite(const RewriteRequest& request, const Head& head) {
    const auto& mirror = request.mirror;
    const auto status = head.status;
    if (!mirror.links || status < 200 || status == 204 || status == 205 || status == 206 ||
        status == 304)
        return std::nullopt;
    const auto syntax = link_syntax_of(head.fields, request.base.path());
    const auto gzip = is_gzip(head.fields);
    const auto length = stated_length(head.fields);
    if (!syntax || !gzip || forbids_transforming(head.fields)) return std::nullopt;
    if (length && (*length == 0 || *length > mirror.up_to)) return std::nullopt;
    return BodyRewrite{*syntax, *gzip};
}

/// The targets between `<` and `>` in Link (RFC 8288 §3).
std::string mirrored_link(const RewriteRequest& request, std::string_view value) {
    std::string out;
    auto in_quotes = false;
    for (std::size_t at = 0; at < value.size(); ++at) {
        const auto c = value[at];
        out.push_back(c);
        if (in_quotes && c == '\\' && at + 1 < value.size()) out.push_back(value[++at]);
        if (c == '"') in_quotes = !in_quotes;
        if (c != '<' || in_quotes || out.size() > kMostRewrittenBytes) continue;
        const auto end = value.find('>', at);
        if (end == std::string_view::npos) continue;
        const auto target = value.substr(at + 1, end - at - 1);
        out.append(mirrored_reference(request, target).value_or(std::string(target)));
        at = end - 1;
    }
    return out;
}

/// `5; url=https://host/`
std::string mirrored_refresh(const RewriteRequest& request, std::string_view value) {
    constexpr std::string_view kUrl = "url=";
    auto at = value.find_first_of(";,");
    if (at == std::string_view::npos) return std::string(value);
    at = value.find_first_not_of(" \t", at + 1);
    if (at == std::string_view::npos || !iequals(value.substr(at, kUrl.size()), kUrl))
        return std::string(value);
    at += kUrl.size();
    auto url = value.substr(at);
    const auto quote = url.starts_with('"') || url.starts_with('\'') ? url.substr(0, 1) : "";
    url.remove_prefix(quote.size());
    if (!quote.empty()) url = url.substr(0, url.find(quote.front()));
    const auto mirrored = mirrored_reference(request, url);
    if (!mirrored) return std::string(value);
    return std::string(value.substr(0, at)).append(quote).append(*mirrored).append(quote);
}

/// The quoted string at the start of `text`, with its quotes; empty if it does not end.
std::string_view quoted_string(std::string_view text) {
    for (std::size_t at = 1; at < text.size(); ++at) {
        if (text[at] == '"') return text.substr(0, at + 1);
        if (text[at] == '\\') ++at;
    }
    return {};
}

/// `Bearer realm="https://auth.host/token"`: the realm is the address at which clients of package
/// and image registries ask for a token. A realm that is no address of a mirror stays.
std::string mirrored_challenge(const RewriteRequest& request, std::string_view value) {
    constexpr std::string_view kRealm = "realm=";
    std::string out;
    while (!value.empty()) {
        const auto quote = std::min(value.find('"'), value.size());
        const auto before = value.substr(0, quote);
        out.append(before);
        value.remove_prefix(quote);
        const auto quoted = quoted_string(value);
        if (quoted.empty()) break;
        const auto name = before.substr(before.size() - std::min(before.size(), kRealm.size()));
        const auto text = quoted.substr(1, quoted.size() - 2);
        std::optional<std::string> mirrored;
        if (iequals(name, kRealm) && has_scheme(text)) mirrored = mirrored_reference(request, text);
        if (mirrored)
            out.append("\"").append(*mirrored).append("\"");
        else
            out.append(quoted);
        value.remove_prefix(quoted.size());
    }
    return out.append(value);
}

std::string mirrored_cookie_path(const Mirror& mirror, std::string_view path) {
    auto out = mirror.here.path;
    if (covers_path(mirror.origin.path, path))
        out.append(path.substr(mirror.origin.path.size()));
    else if (!covers_path(path, mirror.origin.path))
        out.append(path);  // of a part of the origin that has no mirror
    return out.empty() ? "/" : out;
}

/// RFC 6265 §5.1.3. `domain`: without a dot at its beginning.
bool is_in_domain(std::string_view host, std::string_view domain) {
    if (host.size() < domain.size()) return false;
    const auto rest = host.size() - domain.size();
    return iequals(host.substr(rest), domain) && (rest == 0 || host[rest - 1] == '.');
}

/// The path of a cookie that states none (RFC 6265 §5.1.4).
std::string default_cookie_path(std::string_view path) {
    path = path.substr(0, path.find('?'));
    path = path.substr(0, path.rfind('/'));
    return path.empty() ? "/" : std::string(path);
}

/// A redirect to the URL that the client has just asked for would never end. There the client goes
/// to the origin itself.
std::optional<std::string> mirrored_location(const RewriteRequest& request, unsigned status,
                                             std::string_view reference) {
    if (reference.empty()) return std::nullopt;
    auto mirrored = mirrored_reference(request, reference);
    const auto own = std::string(request.own.origin()).append(request.own.path());
    if (!mirrored || !is_redirect(status) || *mirrored != own) return mirrored;
    CacheKey target;
    if (has_scheme(reference) || !resolve_reference(request.base, reference, target))
        return std::nullopt;
    return std::string(target.uri());
}

/// The site of a mirror in place of that of its origin: pages of the mirror have it.
std::optional<std::string> mirrored_site(const RewriteRequest& request, std::string_view site) {
    CacheKey url;
    if (url.assign_url(site) != TargetError::none) return std::nullopt;
    const auto own = request.all.find_site(url.scheme(), url.authority());
    if (!own) return std::nullopt;
    return site_text(own->here);
}

/// The value of a field with addresses, if it is one.
std::optional<std::string> mirrored_value(const RewriteRequest& request, unsigned status,
                                          const Field& line) {
    switch (line.id) {
        case field::location:
            return mirrored_location(request, status, line.value);
        case field::content_location:
            return mirrored_reference(request, line.value);
        case field::link:
            return mirrored_link(request, line.value);
        case field::access_control_allow_origin:
            return mirrored_site(request, line.value);
        case field::www_authenticate:
            return mirrored_challenge(request, line.value);
        default:
            if (iequals(line.name, "Refresh")) return mirrored_refresh(request, line.value);
            return std::nullopt;
    }
}

bool is_zero_weight(std::string_view parameters) {
    const auto at = parameters.find("q=");
    if (at == std::string_view::npos) return false;
    const auto value = trim(parameters.substr(at + 2));
    return value.starts_with('0') && value.find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

std::optional<std::string> mirrored_reference(const RewriteRequest& request,
                                              std::string_view reference) {
    CacheKey target;
    if (!resolve_reference(request.base, reference, target)) return std::nullopt;
    const auto hash = reference.find('#');
    const auto fragment =
        hash == std::string_view::npos ? std::string_view() : reference.substr(hash);
    const auto path = target.path();
    const auto* const mirror = request.all.find_address(target.scheme(), target.authority(),
                                                        path.substr(0, path.find('?')));
    if (mirror) {
        auto rest = path.substr(mirror->origin.path.size());
        auto url = mirror->here_text;
        if (mirror->here.path.empty() && !rest.starts_with('/')) url.push_back('/');
        return url.append(rest).append(fragment);
    }
    if (has_scheme(reference)) return std::nullopt;
    return std::string(target.uri()).append(fragment);
}

/// A Set-Cookie with the attributes that it has at a mirror.
struct CookieOfMirror {
    std::string text;
    std::string path;      // its last Path, RFC 6265 §5.3; empty: it states none
    bool is_taken = true;  // its Domain covers the host that sends it
};

CookieOfMirror with_mirrored_attributes(const RewriteRequest& request, std::string_view cookie) {
    CookieOfMirror out;
    // An application may know the public host for its own.
    const auto host = request.base.host(), here = host_of(request.mirror.here);
    for (auto more = true; more;) {
        const auto end = cookie.find(';');
        const auto part = cookie.substr(0, end);
        const auto equals = part.find('=');
        const auto name = trim(part.substr(0, equals));
        const auto value =
            equals == std::string_view::npos ? std::string_view() : trim(part.substr(equals + 1));
        const auto domain = value.starts_with('.') ? value.substr(1) : value;
        if (out.text.empty()) {
            out.text.append(part);
        } else if (iequals(name, "Path")) {
            out.path = value.starts_with('/') ? mirrored_cookie_path(request.mirror, value)
                                              : std::string();
            out.text.append("; Path=").append(out.path);
        } else if (iequals(name, "Domain")) {
            out.is_taken =
                domain.empty() || is_in_domain(host, domain) || is_in_domain(here, domain);
        } else {
            out.text.append(";").append(part);
        }
        more = end != std::string_view::npos;
        if (more) cookie.remove_prefix(end + 1);
    }
    return out;
}

std::optional<std::string> mirrored_cookie(const RewriteRequest& request, std::string_view cookie) {
    auto out = with_mirrored_attributes(request, cookie);
    if (!out.is_taken) return std::nullopt;
    if (out.path.empty()) {
        out.path = default_cookie_path(request.own.path());
        if (!covers_path(request.mirror.here.path, out.path)) {
            out.path = request.mirror.here.path;
            out.text.append("; Path=").append(out.path);
        }
    }
    if (!request.all.shares_cookie(request.mirror, out.path)) return std::move(out.text);
    const auto pair = cookie.substr(0, cookie.find(';'));
    const auto equals = pair.find('=');
    if (equals == std::string_view::npos || trim(pair.substr(0, equals)).empty())
        return std::nullopt;  // without a name there is no place for the mark
    const auto name_end = pair.find_last_not_of(" \t", equals - 1) + 1;
    return out.text.insert(name_end, std::string(kPartyMark).append(request.mirror.party));
}

std::optional<LinkSyntax> link_syntax_of(Fields response, std::string_view path) {
    std::string type;
    append_lower(type, before_parameters(only_value(response, field::content_type)));
    if (is_under_digest(response, type, path)) return std::nullopt;
    if (type == "text/html" || type == "application/xhtml+xml" || type.ends_with("+html"))
        return LinkSyntax::html;
    if (type == "application/json" || type == "text/json" || type.ends_with("+json"))
        return LinkSyntax::json;
    if (type == "text/plain" && path.substr(0, path.find('?')).ends_with(".json"))
        return LinkSyntax::json;
    return std::nullopt;
}

bool depends_on_mirror(const Mirror& mirror, Fields response, std::string_view path) {
    if (mirror.links && link_syntax_of(response, path)) return true;
    return mirror.location && std::ranges::any_of(response, [](const Field& line) {
               return line.id == field::location || line.id == field::content_location ||
                      line.id == field::link || line.id == field::set_cookie ||
                      line.id == field::www_authenticate ||
                      line.id == field::access_control_allow_origin ||
                      iequals(line.name, "Refresh");
           });
}

bool is_part_to_rewrite(const Mirror& mirror, const Head& head, std::string_view path) {
    if (!mirror.links || head.status != 206) return false;
    const auto type = before_parameters(only_value(head.fields, field::content_type));
    return link_syntax_of(head.fields, path) || iequals(type, "multipart/byteranges");
}

std::optional<std::string_view> coding_for_origin(Fields request) {
    if (!find(request, field::accept_encoding)) return std::nullopt;
    std::optional<bool> gzip, any;
    FieldMembers members(request, field::accept_encoding);
    while (const auto member = members.next()) {
        const auto name = before_parameters(*member);
        const auto accepted =
            !is_zero_weight(member->substr(std::min(name.size(), member->size())));
        if (iequals(name, "gzip") || iequals(name, "x-gzip")) gzip = accepted;
        if (name == "*") any = accepted;
    }
    return gzip.value_or(any.value_or(false)) ? "gzip" : "identity";
}

void rewrite_head(const RewriteRequest& request, const Head& head, HeadRewrite& out) {
    const auto& mirror = request.mirror;
    out.body = body_rewrite(request, head);
    out.changed = out.body.has_value();
    std::size_t rewritten = 0;
    for (const auto& line : head.fields) {
        if (out.body && (line.id == field::content_length || is_checksum(line))) continue;
        if (mirror.location && has_name_of(kOfHost, line.name)) {
            out.changed = true;
            continue;
        }
        std::optional<std::string> value;
        if (mirror.location && line.id == field::set_cookie) {
            value = mirrored_cookie(request, line.value);
            if (!value) {
                out.changed = true;
                continue;
            }
        }
        if (line.id == field::etag && out.body)
            value = marked_tag(line.value, mirror.mark_text, out.body->gzip);
        else if (line.id == field::etag && head.status == 304)
            value = tag_of_304(line.value, request.sent_tags, mirror.mark_text);
        else if (!value && mirror.location && rewritten <= kMostRewrittenBytes)
            value = mirrored_value(request, head.status, line);
        out.fields.push_back(line);
        if (!value || *value == line.value) continue;
        rewritten += value->size();
        out.fields.back().value = out.texts.emplace_back(std::move(*value));
        out.changed = true;
    }
}

}  // namespace proxy
