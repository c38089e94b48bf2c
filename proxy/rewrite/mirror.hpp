#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/cache_key.hpp"
#include "proxy/rewrite/url_prefix.hpp"

namespace proxy {

/// The name of an origin at this node (`origins[].public`), and what is rewritten under it.
/// Immutable; it belongs to one configuration.
struct Mirror {
    UrlPrefix here;    // the URLs of clients
    UrlPrefix origin;  // takes their place at the origin; its authority is Host there
    /// Further authorities by which the origin may name itself.
    std::vector<std::string> other_names = {};
    bool location = false;    // rewrites fields with addresses, and paths of cookies
    bool links = false;       // rewrites links in HTML and JSON
    bool xet = false;         // also renames the members of JSON that send clients to Xet
    std::uint64_t up_to = 0;  // bytes: larger bodies keep their links
    std::string ns = {};      // `origins[].ns`; empty: none
    std::size_t entry = 0;    // index in `origins`
    /// Set by MirrorTable: a hash of all that decides about rewritten bytes. Never 0.
    std::uint32_t mark = 0;
    std::string mark_text = {};  // the same, 8 hex digits
    std::string here_text = {};  // here.text()
    /// Set by MirrorTable: stands for the party behind the origin, by its authority. 8 hex digits,
    /// the same whatever else the settings say.
    std::string party = {};

    /// The request target at the origin. `path`: of a target that `here` covers, with its query.
    std::string path_at_origin(std::string_view path) const;
    /// The URL at the origin of this target.
    std::string url_at_origin(std::string_view path) const;
};

/// All mirrors of a configuration. A few of them, so look-ups go through the list. Immutable, any
/// thread.
class MirrorTable {
public:
    explicit MirrorTable(std::vector<Mirror> mirrors);

    /// The mirror whose `here` covers this target URI: the longest one. Null: none does.
    const Mirror* find(const CacheKey& key) const;
    /// The mirror with this `ns`. Null: none has it.
    const Mirror* find_ns(std::string_view ns) const;
    /// A mirror has an `ns`.
    bool has_ns() const { return has_ns_; }
    /// The mirror of this address at an origin: the longest one whose path covers `path`. An https
    /// address belongs only to an origin that is asked by https, so that no link gets a weaker
    /// connection than it names. `authority`: lower case. Null: there is none.
    const Mirror* find_address(Scheme scheme, std::string_view authority,
                               std::string_view path) const;
    /// A mirror of an address with this authority, for some path. Null: there is none.
    const Mirror* find_site(Scheme scheme, std::string_view authority) const;
    /// A mirror whose `here` has this scheme and authority, `first` before all others. Null: there
    /// is none.
    const Mirror* find_here(const CacheKey& url, const Mirror& first) const;
    /// A browser that has got a cookie with this path from `of` sends it to a mirror of another
    /// party, too. Cookies are of a host, whatever its port and scheme (RFC 6265 §8.5).
    bool shares_cookie(const Mirror& of, std::string_view path) const;

    const std::vector<Mirror>& all() const { return mirrors_; }
    std::size_t longest_authority() const { return longest_authority_; }
    std::size_t longest_path() const { return longest_path_; }
    /// A hash of all mirrors, the same in every process.
    std::uint64_t hash() const { return hash_; }

private:
    std::vector<Mirror> mirrors_;  // those with the longest `here` first
    std::vector<std::size_t>
        by_origin_;  // indices: those with the longest path at the origin first
    std::size_t longest_authority_ = 0, longest_path_ = 0;
    std::uint64_t hash_ = 0;
    bool has_ns_ = false;
};

}  // namespace proxy
