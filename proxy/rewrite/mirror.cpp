#include "proxy/rewrite/mirror.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace proxy {
namespace {

/// Changes when the same settings give other bytes, so that stored ones end.
constexpr std::string_view kMirrorVersion = "2";

/// FNV-1a over texts, each with its end.
class TextHash {
public:
    void add(std::string_view text) {
        for (const char c : text) add_byte(static_cast<unsigned char>(c));
        add_byte(0);
    }
    std::uint64_t value() const { return hash_; }

private:
    void add_byte(unsigned char byte) { hash_ = (hash_ ^ byte) * 1099511628211u; }

    std::uint64_t hash_ = 14695981039346656037u;
};

void add(TextHash& hash, const Mirror& mirror) {
    hash.add(mirror.here_text);
    hash.add(mirror.origin.text());
    for (const auto& name : mirror.other_names) hash.add(name);
    hash.add(mirror.location ? "location" : "");
    hash.add(mirror.links ? std::to_string(mirror.up_to) : "");
    if (mirror.xet) hash.add("xet");
}

bool has_port(std::string_view authority) {
    return authority.rfind(':') != std::string_view::npos && !authority.ends_with(']');
}

/// `authority` may state the default port of its scheme.
bool is_authority(std::string_view own, Scheme scheme, std::string_view authority) {
    if (own == authority) return true;
    const std::string_view port = scheme == Scheme::https ? ":443" : ":80";
    return !has_port(own) && authority.size() == own.size() + port.size() &&
           authority.starts_with(own) && authority.ends_with(port);
}

bool has_name(const Mirror& mirror, Scheme scheme, std::string_view authority) {
    const auto is_own = [&](std::string_view own) {
        // A port is of one scheme.
        const auto fits =
            scheme == mirror.origin.scheme || (scheme == Scheme::http && !has_port(own));
        return fits && is_authority(own, scheme, authority);
    };
    return is_own(mirror.origin.authority) || std::ranges::any_of(mirror.other_names, is_own);
}

std::string hex_of(std::uint32_t value) {
    std::string out;
    for (int shift = 28; shift >= 0; shift -= 4)
        out.push_back("0123456789abcdef"[value >> shift & 15]);
    return out;
}

}  // namespace

std::string Mirror::path_at_origin(std::string_view path) const {
    const auto rest = path.substr(here.path.size());
    std::string out = origin.path;
    if (out.empty() && !rest.starts_with('/')) out.push_back('/');
    return out.append(rest);
}

std::string Mirror::url_at_origin(std::string_view path) const {
    return std::string(to_string(origin.scheme))
        .append("://")
        .append(origin.authority)
        .append(path_at_origin(path));
}

MirrorTable::MirrorTable(std::vector<Mirror> mirrors) : mirrors_(std::move(mirrors)) {
    std::ranges::stable_sort(mirrors_, [](const Mirror& a, const Mirror& b) {
        return a.here.path.size() > b.here.path.size();
    });
    for (auto& mirror : mirrors_) mirror.here_text = mirror.here.text();
    // The order of `origins` decides nothing, so it is no part of the hash.
    std::vector<std::size_t> by_name(mirrors_.size());
    std::iota(by_name.begin(), by_name.end(), std::size_t{0});
    by_origin_ = by_name;
    std::ranges::stable_sort(by_name, {}, [&](std::size_t i) { return mirrors_[i].here_text; });
    std::ranges::stable_sort(by_origin_, [&](std::size_t a, std::size_t b) {
        return mirrors_[a].origin.path.size() > mirrors_[b].origin.path.size();
    });
    TextHash all;
    all.add(kMirrorVersion);
    for (const auto i : by_name) add(all, mirrors_[i]);
    hash_ = all.value() == 0 ? 1 : all.value();
    for (auto& mirror : mirrors_) {
        auto own = all;
        own.add(mirror.here_text);
        mirror.mark = std::max(static_cast<std::uint32_t>(own.value() ^ own.value() >> 32), 1u);
        mirror.mark_text = hex_of(mirror.mark);
        TextHash party;
        party.add(mirror.origin.authority);
        mirror.party = hex_of(static_cast<std::uint32_t>(party.value() ^ party.value() >> 32));
        constexpr std::size_t kPort = 4;  // `:443`
        for (const auto& name : mirror.other_names)
            longest_authority_ = std::max(longest_authority_, name.size() + kPort);
        longest_authority_ = std::max(longest_authority_, mirror.origin.authority.size() + kPort);
        longest_path_ = std::max(longest_path_, mirror.origin.path.size());
        has_ns_ = has_ns_ || !mirror.ns.empty();
    }
}

const Mirror* MirrorTable::find_ns(std::string_view ns) const {
    const auto found = std::ranges::find(mirrors_, ns, &Mirror::ns);
    return ns.empty() || found == mirrors_.end() ? nullptr : &*found;
}

const Mirror* MirrorTable::find(const CacheKey& key) const {
    for (const auto& mirror : mirrors_)
        if (mirror.here.scheme == key.scheme() && mirror.here.authority == key.authority() &&
            covers_received_path(mirror.here.path, key.path()))
            return &mirror;
    return nullptr;
}

const Mirror* MirrorTable::find_address(Scheme scheme, std::string_view authority,
                                        std::string_view path) const {
    for (const auto i : by_origin_)
        if (covers_path(mirrors_[i].origin.path, path) && has_name(mirrors_[i], scheme, authority))
            return &mirrors_[i];
    return nullptr;
}

const Mirror* MirrorTable::find_site(Scheme scheme, std::string_view authority) const {
    for (const auto& mirror : mirrors_)
        if (has_name(mirror, scheme, authority)) return &mirror;
    return nullptr;
}

const Mirror* MirrorTable::find_here(const CacheKey& url, const Mirror& first) const {
    const auto is_of_site = [&](const Mirror& mirror) {
        return mirror.here.scheme == url.scheme() && mirror.here.authority == url.authority();
    };
    if (is_of_site(first)) return &first;
    const auto found = std::ranges::find_if(mirrors_, is_of_site);
    return found == mirrors_.end() ? nullptr : &*found;
}

bool MirrorTable::shares_cookie(const Mirror& of, std::string_view path) const {
    return std::ranges::any_of(mirrors_, [&](const Mirror& other) {
        if (other.party == of.party || host_of(other.here) != host_of(of.here)) return false;
        if (covers_path(path, other.here.path + "/")) return true;
        // The mirror with the longest path gets a request.
        const auto is_above = other.here.scheme == of.here.scheme &&
                              other.here.authority == of.here.authority &&
                              other.here.path.size() < of.here.path.size();
        return !is_above && covers_path(other.here.path, path);
    });
}

}  // namespace proxy
