#include "proxy/rewrite/request_rewrite.hpp"

#include <algorithm>
#include <utility>

#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;

constexpr std::size_t kPartyDigits = 8;

bool is_hex(std::string_view text) {
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Nothing: the value stays as it is.
std::optional<std::string> own_cookies(const Mirror& mirror, std::string_view cookies) {
    if (cookies.find(kPartyMark) == std::string_view::npos) return std::nullopt;
    std::string out;
    while (!cookies.empty()) {
        const auto end = std::min(cookies.find(';'), cookies.size());
        const auto pair = trim(cookies.substr(0, end));
        cookies.remove_prefix(std::min(end + 1, cookies.size()));
        const auto name = pair.substr(0, pair.find('='));
        const auto at = name.rfind(kPartyMark);
        const auto party =
            at == std::string_view::npos ? std::string_view() : name.substr(at + kPartyMark.size());
        const auto is_marked = party.size() == kPartyDigits && is_hex(party);
        if (pair.empty() || (is_marked && party != mirror.party)) continue;
        if (!out.empty()) out.append("; ");
        out.append(is_marked ? name.substr(0, at) : name).append(pair.substr(name.size()));
    }
    return out;
}

/// The mirror whose page has sent a request.
struct SendingPage {
    const Mirror* mirror = nullptr;  // null: no page of a mirror, or an unknown one
    CacheKey url;
};

SendingPage sending_page(const MirrorTable& all, const Mirror& mirror, Fields request) {
    SendingPage page;
    const auto referer = only_value(request, field::referer);
    if (page.url.assign_url(referer.substr(0, referer.find('#'))) != TargetError::none) return page;
    page.mirror = all.find(page.url);
    // Some pages state no more than their site.
    const auto is_bare = page.url.path() == "/" && page.url.origin() == site_text(mirror.here);
    if (!page.mirror && is_bare) page.mirror = &mirror;
    return page;
}

std::string referer_of(const SendingPage& page, const Mirror& mirror) {
    const auto& from = *page.mirror;
    const auto is_own = from.party == mirror.party;
    if (is_own && covers_path(from.here.path, page.url.path()))
        return from.url_at_origin(page.url.path());
    // Another party learns no more than the site, as from a page at a host of its own.
    return site_text(from.origin).append("/");
}

/// The site at the origin for a site of mirrors.
std::optional<std::string> origin_of(const MirrorTable& all, const Mirror& mirror,
                                     const SendingPage& page, std::string_view site) {
    CacheKey url;
    if (url.assign_url(site) != TargetError::none) return std::nullopt;
    const auto is_of_page = page.url.origin() == url.origin();
    const auto* const from = is_of_page ? page.mirror : all.find_here(url, mirror);
    return from ? std::optional(site_text(from->origin)) : std::nullopt;
}

std::optional<std::string> destination_of(const MirrorTable& all, const Mirror& mirror,
                                          std::string_view destination) {
    CacheKey url;
    const auto text = destination.starts_with('/') ? site_text(mirror.here).append(destination)
                                                   : std::string(destination);
    if (url.assign_url(text) != TargetError::none) return std::nullopt;
    const auto* const to = all.find(url);
    return to ? std::optional(to->url_at_origin(url.path())) : std::nullopt;
}

bool says_near(const Field& line) {
    return iequals(line.name, "Sec-Fetch-Site") &&
           (iequals(line.value, "same-origin") || iequals(line.value, "same-site"));
}

}  // namespace

void rewrite_request(const MirrorTable& all, const Mirror& mirror, std::vector<Field>& fields,
                     std::deque<std::string>& texts) {
    const auto page = sending_page(all, mirror, fields);
    for (auto& line : fields) {
        std::optional<std::string> value;
        if (line.id == field::cookie)
            value = own_cookies(mirror, line.value);
        else if (line.id == field::referer && page.mirror)
            value = referer_of(page, mirror);
        else if (line.id == field::origin)
            value = origin_of(all, mirror, page, line.value);
        else if (line.id == field::destination)
            value = destination_of(all, mirror, line.value);
        else if (page.mirror && page.mirror->party != mirror.party && says_near(line))
            value = "cross-site";
        if (value) line.value = texts.emplace_back(std::move(*value));
    }
    std::erase_if(fields,
                  [](const Field& line) { return line.id == field::cookie && line.value.empty(); });
}

std::optional<std::string> location_of_other_party(const MirrorTable& all, const Mirror& mirror,
                                                   const CacheKey& own, std::string_view location) {
    const auto hash = std::min(location.find('#'), location.size());
    CacheKey url;
    if (url.assign_url(location.substr(0, hash)) != TargetError::none) return std::nullopt;
    const auto* const to = url.host() == own.host() ? all.find(url) : nullptr;
    if (!to || to->party == mirror.party) return std::nullopt;
    return to->url_at_origin(url.path()).append(location.substr(hash));
}

}  // namespace proxy
