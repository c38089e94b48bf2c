#include "proxy/config/config_blocklists.hpp"

#include <map>
#include <string>
#include <utility>

namespace proxy {

void read_blocklist_settings(ConfigContext& context, ConfigSection& forward,
                             std::vector<BlocklistConfig>& out) {
    std::map<std::string, std::string> places;  // of paths
    const auto elements = forward.elements("blocklists");
    for (const auto& [value, path] : elements) {
        ConfigSection in(context, *value, path);
        BlocklistConfig list;
        in.require("path");
        in.read("path", list.path);
        if (in.has("path") && !in.failed("path") && !list.path.starts_with('/'))
            in.fail("path", "must be an absolute path");
        in.require("format");
        if (const auto format = in.choice("format", kBlocklistFormatNames))
            list.format = static_cast<BlocklistFormat>(*format);
        if (const auto action = in.choice("action", kBlocklistActionNames))
            list.action = static_cast<BlocklistAction>(*action);
        in.done();
        if (!list.path.empty()) {
            const auto [other, is_new] = places.emplace(list.path, path);
            if (!is_new) in.fail("path", "is that of " + other->second + " again");
        }
        out.push_back(std::move(list));
    }
    if (elements.size() > kMaxBlocklists)
        forward.fail("blocklists", "must be at most " + std::to_string(kMaxBlocklists));
}

}  // namespace proxy
