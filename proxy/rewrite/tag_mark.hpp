#pragma once

#include <string>
#include <string_view>

namespace proxy {

// Entity tags of rewritten bodies. The origin's tag gets the hash of the rewriting at its end
// (Mirror::mark_text), so that other settings make another tag: `"a"` becomes `"a-r0123abcd"`. A
// body whose coding was made anew gets a weak tag, because another version of zlib may give other
// bytes: `"a"` becomes `W/"a-w0123abcd"`.

/// The tag for clients. `recoded`: the coding was made anew.
std::string marked_tag(std::string_view tag, std::string_view mark, bool recoded);

/// The tag is of a rewritten body.
bool has_mark(std::string_view tag, std::string_view mark);

/// A text with tags, such as the value of If-None-Match, with the origin's own tags.
std::string tags_for_origin(std::string_view text, std::string_view mark);

/// The tag of a 304 for clients. `sent`: the text with the tags that the 304 answers, as clients
/// know them. A tag that is not among them stays as it is.
std::string tag_of_304(std::string_view tag, std::string_view sent, std::string_view mark);

}  // namespace proxy
