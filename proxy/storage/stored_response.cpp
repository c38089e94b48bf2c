#include "proxy/storage/stored_response.hpp"

namespace proxy {

std::vector<Field> StoredMetadata::fields() const {
    std::vector<Field> result;
    std::string_view rest = head;
    rest.remove_prefix(std::min(rest.find('\n') + 1, rest.size()));  // the status line
    while (!rest.empty()) {
        const auto end = rest.find("\r\n");
        const auto line = rest.substr(0, end);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        const auto name = line.substr(0, colon);
        auto value = line.substr(colon + 1);
        if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
        result.push_back(
            {boost::beast::http::string_to_field({name.data(), name.size()}), name, value});
    }
    return result;
}

}  // namespace proxy
