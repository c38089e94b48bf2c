#include "proxy/node/load_config.hpp"

#include <iterator>
#include <utility>

#include "proxy/access/password_file.hpp"
#include "proxy/blocklists/read_blocklists.hpp"
#include "proxy/config/config_review.hpp"
#include "proxy/config/disk_folders.hpp"
#include "proxy/tls/certificate_review.hpp"
#include "proxy/tls/tls_contexts.hpp"

namespace proxy {

namespace {

constexpr auto kUsersSetting = "$.forward.authentication.users";

void append(std::vector<ConfigError>& to, std::vector<ConfigError> more) {
    std::move(more.begin(), more.end(), std::back_inserter(to));
}

enum class Disks : bool { left_out, inspected };

LoadResult load(const std::filesystem::path& file, const Environment& environment, Disks disks,
                const PreviousConfig& before) {
    LoadResult result{read_config(file, environment), {}};
    if (!result.config) return result;
    auto errors = missing_files(*result.config);
    if (disks == Disks::inspected) append(errors, unusable_disks(*result.config));
    auto read = load_files(*result.config, before, std::move(errors));
    append(result.warnings, std::move(read.warnings));
    result.errors = std::move(read.errors);
    result.files = std::move(read.files);
    if (!result.errors.empty()) result.config.reset();
    return result;
}

}  // namespace

FilesRead load_files(LoadedConfig& config, const PreviousConfig& before,
                     std::vector<ConfigError> errors) {
    FilesRead read;
    read.errors = std::move(errors);
    auto tls = load_tls(config);
    append(read.errors, std::move(tls.errors));
    if (config.authenticates()) {
        const auto& path = config.forward.authentication->users;
        auto users = read_users(path);
        for (auto& error : users.errors) read.errors.push_back({kUsersSetting, std::move(error)});
        if (users.file && users.file->size() == 0)
            read.warnings.push_back(
                {kUsersSetting,
                 path + " names no user: every client of the forward proxy gets 407"});
        read.files.users = std::move(users.file);
    }
    if (!read.errors.empty()) return read;
    config.trust = std::move(tls.trust);
    read.files.tls = std::move(tls.contexts);
    auto lists = read_blocklists(config.forward, before.blocklists, before.stop);
    read.files.blocklists = std::move(lists.lists);
    read.errors = std::move(lists.errors);
    lists.warnings.insert(lists.warnings.end(), read.warnings.begin(), read.warnings.end());
    read.warnings = std::move(lists.warnings);
    append(read.warnings, certificate_doubts(config, *read.files.tls));
    return read;
}

LoadResult load_config(const std::filesystem::path& file, const Environment& environment,
                       const PreviousConfig& before) {
    return load(file, environment, Disks::left_out, before);
}

LoadResult load_config_to_start(const std::filesystem::path& file, const Environment& environment) {
    return load(file, environment, Disks::inspected, {});
}

}  // namespace proxy
