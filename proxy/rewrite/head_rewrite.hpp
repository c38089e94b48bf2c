#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/cache_key.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/rewrite/link_replacer.hpp"
#include "proxy/rewrite/mirror.hpp"

namespace proxy {

// The head of a response of a mirrored origin, as clients get it. Functions of head and request.

/// The request that a response answers.
struct RewriteRequest {
    const MirrorTable& all;
    const Mirror& mirror;
    const CacheKey& own;   // the client's target URI
    const CacheKey& base;  // the URL that gave the response
    bool is_head = false;
    std::string_view sent_tags = {};  // as clients know them
};

/// The way to rewrite a body.
struct BodyRewrite {
    LinkSyntax syntax = LinkSyntax::html;
    bool gzip = false;
};

/// A rewritten head. Views into the received head and into `texts`; not copied.
struct HeadRewrite {
    HeadRewrite() = default;
    HeadRewrite(const HeadRewrite&) = delete;
    HeadRewrite& operator=(const HeadRewrite&) = delete;

    std::vector<Field> fields;
    std::optional<BodyRewrite> body;  // none: the body stays as it is
    bool changed = false;             // the head or the body
    std::deque<std::string> texts = {};
};

/// Rewrites the fields and decides about the body.
void rewrite_head(const RewriteRequest& request, const Head& head, HeadRewrite& out);

/// Returns a reference in a field as clients get it: the address at the mirror, or the absolute URL
/// at the origin. Nothing: it stays as it is.
std::optional<std::string> mirrored_reference(const RewriteRequest& request,
                                              std::string_view reference);
/// Set-Cookie without the Domain of the origin or of the mirror, and with a Path within the mirror:
/// origins that share a host at the node keep their cookies apart. The name of a cookie that goes
/// to mirrors of other parties as well gets a mark of its own party: see rewrite_request().
/// Nothing: the Domain is another host, so browsers would refuse the cookie from the origin itself
/// (RFC 6265 §5.3).
std::optional<std::string> mirrored_cookie(const RewriteRequest& request, std::string_view cookie);

/// The syntax of links in a body with these fields, if it may have links. `path`: of the URL at the
/// origin. `text/plain` counts as JSON if the path ends in `.json`. A body whose very bytes count,
/// by a digest or signature in its head, or as a part of a container image, has none.
std::optional<LinkSyntax> link_syntax_of(Fields response, std::string_view path);

/// The response depends on the settings of the mirror: it is, or would be, rewritten.
bool depends_on_mirror(const Mirror& mirror, Fields response, std::string_view path);

/// A part of a body that is rewritten as a whole, by its head: a 206 of such a type.
bool is_part_to_rewrite(const Mirror& mirror, const Head& head, std::string_view path);

/// The value of Accept-Encoding for an origin whose bodies are rewritten: `gzip` if the client
/// accepts it, as no other coding can be undone here, else `identity`. Nothing: the request has no
/// such field.
std::optional<std::string_view> coding_for_origin(Fields request);

}  // namespace proxy
