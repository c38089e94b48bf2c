// The parent proxies, and the targets without one; see special_settings.hpp.
#include "proxy/config/special_settings.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/base64.hpp"
#include "proxy/config/config_values.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/http/escape.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/same_host.hpp"

namespace proxy::settings {
namespace {

constexpr std::size_t kMaxCredentials = 512;  // bytes
constexpr std::string_view kParentUrl =
    "must be http://host:port or https://host:port, with user:password@ before the host if the "
    "proxy asks for them";

/// `user:password` with its escapes decoded; none for a fault.
std::optional<std::string> decoded_credentials(std::string_view text) {
    auto pair = percent_decoded(text);
    if (!pair || pair->size() > kMaxCredentials || pair->find(':') == std::string::npos ||
        has_control(*pair, 0x20))
        return std::nullopt;
    return pair;
}

/// The parent of a URL, or the fault, which shows nothing of the URL.
std::optional<UpstreamServer> parent_of(std::string_view url, std::string& fault) {
    constexpr std::string_view kClear = "http://", kSecure = "https://";
    UpstreamServer parent;
    parent.tls = iequals(url.substr(0, kSecure.size()), kSecure);
    const auto scheme = parent.tls ? kSecure : kClear;
    if (!iequals(url.substr(0, scheme.size()), scheme)) {
        fault = kParentUrl;
        return std::nullopt;
    }
    url.remove_prefix(scheme.size());
    if (url.ends_with('/')) url.remove_suffix(1);
    if (const auto at = url.rfind('@'); at != std::string_view::npos) {
        const auto credentials = decoded_credentials(url.substr(0, at));
        if (!credentials) {
            fault = "has credentials that are not user:password, percent-encoded";
            return std::nullopt;
        }
        parent.credentials = base::to_base64(*credentials);
        url.remove_prefix(at + 1);
    }
    auto place =
        url.find_first_of("/?#") == std::string_view::npos ? parse_host_port(url) : std::nullopt;
    if (!place) {
        fault = kParentUrl;
        return std::nullopt;
    }
    append_lower(parent.place.host, place->host);
    parent.place.port = place->port;
    parent.mark = mark_of_server(parent.place.text());
    return parent;
}

}  // namespace

void read_parents(ConfigSection& in, std::string_view key,
                  std::shared_ptr<const UpstreamGroupConfig>& out) {
    UpstreamGroupConfig group;
    group.name = "forward.parent";
    group.balance = Balance::in_order;
    group.parents = true;
    const auto elements = in.elements(key);
    for (const auto& [value, path] : elements) {
        const auto shows_secret = value->is_string() && value->get_ref<const std::string&>().find(
                                                            '@') != std::string::npos;
        const auto url = shows_secret ? secret_of(in.context(), *value, path)
                                      : text_of(in.context(), *value, path);
        if (!url) continue;
        std::string fault;
        auto parent = parent_of(*url, fault);
        if (!parent) {
            in.context().fail(path, fault);
            continue;
        }
        const auto is_known = [&](const UpstreamServer& other) {
            return other.mark == parent->mark;
        };
        if (std::ranges::any_of(group.servers, is_known))
            in.context().fail(path, "is the same proxy again");
        group.servers.push_back(std::move(*parent));
    }
    if (elements.size() > kMaxUpstreams)
        in.fail(key, "must have at most " + std::to_string(kMaxUpstreams) + " elements");
    if (!group.servers.empty()) out = std::make_shared<const UpstreamGroupConfig>(std::move(group));
}

void read_no_proxy(ConfigSection& in, std::string_view key, NoProxy& out) {
    const auto elements = in.elements(key);
    for (const auto& [value, path] : elements) {
        const auto text = text_of(in.context(), *value, path);
        if (!text) continue;
        boost::system::error_code is_name;
        boost::asio::ip::make_address(*text, is_name);
        if (!is_name || text->find('/') != std::string::npos) {
            if (!out.prefixes.add(*text))
                in.context().fail(path,
                                  "must be a host, a glob such as *.example.org, or a prefix "
                                  "such as 10.0.0.0/8");
        } else {
            std::string lower, scratch;
            append_lower(lower, *text);
            if (lower.empty() || lower.size() > kMaxRuleText ||
                lower.find_first_of(":@?# ") != std::string::npos)
                in.context().fail(path,
                                  "must be a host without a scheme or port; * stands for any");
            out.hosts.emplace_back(canonical_host(lower, scratch));
        }
        out.texts.push_back(*text);
    }
    if (elements.size() > kMaxNoProxy)
        in.fail(key, "must have at most " + std::to_string(kMaxNoProxy) + " elements");
}

}  // namespace proxy::settings
