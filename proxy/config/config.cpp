#include "proxy/config/config.hpp"

#include <cstdlib>

namespace proxy {

Environment process_environment() {
    return [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        return value ? std::optional<std::string>(value) : std::nullopt;
    };
}

std::string describe(const std::vector<ConfigError>& errors) {
    std::string text;
    for (const auto& error : errors) {
        if (!error.path.empty()) text.append(error.path).append(": ");
        text.append(error.message).append("\n");
    }
    return text;
}

}  // namespace proxy
