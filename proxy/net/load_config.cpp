#include "proxy/net/load_config.hpp"

#include <iterator>
#include <utility>

#include "proxy/access/access_rules.hpp"
#include "proxy/blocklists/read_blocklists.hpp"
#include "proxy/config/config_review.hpp"
#include "proxy/config/disk_folders.hpp"
#include "proxy/net/certificate_review.hpp"
#include "proxy/net/tls_contexts.hpp"

namespace proxy {

namespace {

void append(std::vector<ConfigError>& to, std::vector<ConfigError> more) {
    std::move(more.begin(), more.end(), std::back_inserter(to));
}

enum class Disks : bool { left_out, inspected };

ConfigResult load(const std::filesystem::path& file, const Environment& environment, Disks disks,
                  const LoadedBefore& before) {
    auto result = read_config(file, environment);
    if (!result.config) return result;
    result.errors = missing_files(*result.config);
    append(result.errors, load_tls(*result.config));
    append(result.errors, load_access(*result.config));
    if (disks == Disks::inspected) append(result.errors, unusable_disks(*result.config));
    if (result.errors.empty()) {  // long work, which would be in vain with an error
        auto lists = read_blocklists(result.config->forward, before.blocklists, before.stop);
        result.config->blocklists = std::move(lists.lists);
        append(result.warnings, std::move(lists.warnings));
        result.errors = std::move(lists.errors);
    }
    if (!result.errors.empty()) {
        result.config.reset();
        return result;
    }
    const auto& access = result.config->access;
    if (access && access->users && access->users->size() == 0)
        result.warnings.push_back(
            {"$.forward.authentication.users",
             result.config->forward.authentication->users +
                 " names no user: every client of the forward proxy gets 407"});
    append(result.warnings, certificate_doubts(*result.config));
    return result;
}

}  // namespace

ConfigResult load_config(const std::filesystem::path& file, const Environment& environment,
                         const LoadedBefore& before) {
    return load(file, environment, Disks::left_out, before);
}

ConfigResult load_config_to_start(const std::filesystem::path& file,
                                  const Environment& environment) {
    return load(file, environment, Disks::inspected, {});
}

}  // namespace proxy
