#include "proxy/net/load_config.hpp"

#include <iterator>
#include <utility>

#include "proxy/config/config_review.hpp"
#include "proxy/net/tls_contexts.hpp"

namespace proxy {

ConfigResult load_config(const std::filesystem::path& file, const Environment& environment) {
    auto result = read_config(file, environment);
    if (!result.config) return result;
    result.errors = missing_files(*result.config);
    auto of_tls = load_tls(*result.config);
    std::move(of_tls.begin(), of_tls.end(), std::back_inserter(result.errors));
    if (!result.errors.empty()) result.config.reset();
    return result;
}

}  // namespace proxy
