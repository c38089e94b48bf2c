#include "measure/trace/target.hpp"

namespace measure {

std::optional<std::string_view> TargetCheck::refuse(std::string_view url) {
    if (url.empty()) return "no URL";
    if (url.size() > kMaxUrlBytes) return "URL too long";
    const auto error = key_.assign(proxy::Scheme::http, boost::beast::http::verb::get, url, {});
    if (error == proxy::TargetError::bad_scheme) return kForeignScheme;
    if (error != proxy::TargetError::none) return proxy::to_string(error);
    if (key_.scheme() != proxy::Scheme::http) return kHttpsUrl;
    return std::nullopt;
}

SplitUrl split_url(std::string_view url) {
    url.remove_prefix(std::string_view("http://").size());
    const auto end = url.find_first_of("/?#");
    if (end == std::string_view::npos) return {url, {}};
    return {url.substr(0, end), url.substr(end)};
}

}  // namespace measure
