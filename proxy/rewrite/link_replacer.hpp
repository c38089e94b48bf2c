#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/rewrite/mirror.hpp"

namespace proxy {

/// The syntax of a body with links.
enum class LinkSyntax : std::uint8_t { html, json };

/// Replaces the addresses of mirrored origins in a body that comes in pieces. The forms are
/// `https://host/...`, `http://host/...` and `//host/...`, each also with `\/` for `/`. In HTML the
/// values of `href`, `src` and `action` that begin with `/` lead from the root of the origin to the
/// mirror; in JSON those of `url`. Mirror::xet also renames the member `xetHash`, so that a client
/// does not see it. The result is the same however the body is cut into pieces.
///
/// Memory: one step of input, and the bytes of one address. One body, one thread.
class LinkReplacer {
public:
    /// Bytes that one call takes at most.
    static constexpr std::size_t kStep = 16 * 1024;

    /// `of`: the mirror of the response, in `all`. `base`: scheme and authority that the origin's
    /// response has come from.
    LinkReplacer(std::shared_ptr<const MirrorTable> all, const Mirror& of, LinkSyntax syntax,
                 Scheme base_scheme, std::string base_authority);

    /// Takes up to kStep bytes off `in` and appends to `out` what is decided. `last`: nothing
    /// follows behind `in`. The body has ended when `last` is set and `in` is empty afterwards.
    void replace(std::string_view& in, bool last, std::string& out);
    /// Appends what is held back, unchanged. For a body whose rest is not rewritten.
    void give_back(std::string& out);

private:
    struct Match;
    Match match_at(std::string_view text, std::size_t at, bool last) const;
    Match match_address(std::string_view text, std::size_t at, bool last) const;
    Match match_network_path(std::string_view text, std::size_t at, bool last) const;
    Match match_authority(std::string_view text, std::size_t begin, std::size_t at, Scheme scheme,
                          bool escaped, bool last) const;
    Match match_attribute(std::string_view text, std::size_t at, bool last) const;
    Match match_member(std::string_view text, std::size_t at, bool last) const;
    Match match_root(std::string_view text, std::size_t at, bool last) const;

    const std::shared_ptr<const MirrorTable> all_;
    const Mirror& of_;
    const LinkSyntax syntax_;
    const Scheme base_scheme_;
    const std::string base_authority_;
    const bool moves_root_;  // a path from the root means another URL at the mirror
    std::string held_;       // not decided yet
    char before_ = '\n';     // the byte before `held_`
};

}  // namespace proxy
