// Links of mirrored origins: every cut of a body into pieces gives the same result, and a plain
// search for each spelling finds the same addresses.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/field_list.hpp"
#include "proxy/rewrite/body_rewriter.hpp"
#include "proxy/rewrite/tag_mark.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace proxy;

namespace {

Mirror mirror(std::string_view here, std::string_view origin) {
    auto fault = PrefixFault::no_url;
    Mirror made;
    made.here = *parse_url_prefix(here, fault);
    made.origin = *parse_url_prefix(origin, fault);
    made.links = true;
    return made;
}

const std::shared_ptr<const MirrorTable>& all_mirrors() {
    static const auto all = std::make_shared<const MirrorTable>(std::vector<Mirror>{
        mirror("http://m/p", "https://o"), mirror("http://m/d", "https://d/s"),
        mirror("http://m/e", "https://d/s/t"), mirror("http://n", "http://c:81")});
    return all;
}

/// One mirror without a path, so that no path from the root changes.
const std::shared_ptr<const MirrorTable>& one_mirror() {
    static const auto one =
        std::make_shared<const MirrorTable>(std::vector<Mirror>{mirror("http://m", "https://o")});
    return one;
}

/// `sizes`: of the pieces, over and over.
std::string in_pieces(const std::shared_ptr<const MirrorTable>& all, LinkSyntax syntax,
                      std::string_view text, std::string_view sizes) {
    const auto& of = all->all().front();
    LinkReplacer links(all, of, syntax, of.origin.scheme, of.origin.authority);
    std::string out;
    std::size_t turn = 0;
    do {
        const auto size =
            sizes.empty() ? text.size() : static_cast<unsigned char>(sizes[turn++ % sizes.size()]);
        auto piece = text.substr(0, size);
        text.remove_prefix(piece.size());
        do links.replace(piece, text.empty(), out);
        while (!piece.empty());
    } while (!text.empty());
    return out;
}

/// The length of the address at the start of `text` in one of its spellings; 0: there is none.
std::size_t spelled_address(std::string_view text, char before, bool& escaped) {
    const auto is_one_of = [](char c, std::string_view set) {
        return set.find(c) != std::string_view::npos;
    };
    const auto in_word = (before >= 'a' && before <= 'z') || (before >= 'A' && before <= 'Z') ||
                         (before >= '0' && before <= '9') || is_one_of(before, "+-.");
    for (const std::string_view scheme : {"https:", "http:", ""})
        for (const std::string_view first : {"/", "\\/"})
            for (const std::string_view second : {"/", "\\/"})
                for (const std::string_view host : {"o", "o:443", "o:80"}) {
                    if (host == "o:443" && scheme == "http:") continue;
                    if (host == "o:80" && scheme != "http:") continue;
                    if (scheme.empty() ? !is_one_of(before, " \t\r\n\f\"'=(") : in_word) continue;
                    const auto spelled =
                        std::string(scheme).append(first).append(second).append(host);
                    if (!iequals(text.substr(0, spelled.size()), spelled)) continue;
                    const auto next = text.substr(spelled.size(), 1);
                    if (!next.empty() && !is_one_of(next[0], " \t\r\n\f/\\\"'<>?#)")) continue;
                    escaped = first.size() == 2;
                    return spelled.size();
                }
    return 0;
}

std::string searched(std::string_view text) {
    std::string out;
    char before = '\n';
    for (std::size_t at = 0; at < text.size();) {
        auto escaped = false;
        const auto length = spelled_address(text.substr(at), before, escaped);
        if (length > 0)
            out.append(escaped ? "http:\\/\\/m" : "http://m");
        else
            out.push_back(text[at]);
        at += std::max<std::size_t>(length, 1);
        before = text[at - 1];
    }
    return out;
}

void check_gzip(std::string_view data) {
    const auto& all = one_mirror();
    BodyRewriter rewriter(
        LinkReplacer(all, all->all().front(), LinkSyntax::html, Scheme::https, "o"), true, 1000);
    for (int steps = 0; !rewriter.done(); ++steps) {
        FUZZ_CHECK(steps < 100000);
        if (!rewriter.step(data, true)) return;
    }
}

}  // namespace

/// First byte: the syntax, and the number of bytes behind it that are sizes of pieces.
int fuzz_links(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
    const auto syntax = data[0] % 2 == 0 ? LinkSyntax::html : LinkSyntax::json;
    const auto sizes = rest.substr(0, data[0] / 2 % 8);
    if (sizes.find_first_not_of('\0') == std::string_view::npos && !sizes.empty()) return 0;
    const auto text = rest.substr(sizes.size());
    for (const auto& all : {all_mirrors(), one_mirror()})
        FUZZ_CHECK(in_pieces(all, syntax, text, sizes) == in_pieces(all, syntax, text, {}));
    FUZZ_CHECK(in_pieces(one_mirror(), syntax, text, {}) == searched(text));
    check_gzip(text);
    // Tags come back from a client as the origin gave them, unless they end in a mark already.
    for (const auto recoded : {false, true}) {
        const auto tag = '"' + std::string(text.substr(0, 20)) + '"';
        if (text.find_first_of("\"\r\n,-") != std::string_view::npos) break;
        FUZZ_CHECK(tags_for_origin(marked_tag(tag, "0123abcd", recoded), "0123abcd") == tag);
    }
    return 0;
}
