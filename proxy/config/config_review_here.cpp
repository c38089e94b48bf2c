// The doubts that depend on the machine; see config_review.hpp.
#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "proxy/config/config_certificates.hpp"
#include "proxy/config/config_review.hpp"
#include "proxy/config/config_values.hpp"
#include "proxy/config/disk_folders.hpp"
#include "proxy/config/resource_limits.hpp"

namespace proxy {
namespace {

constexpr std::size_t kNamesAtOnce = 16;

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

/// Null, with the reason, when there is no such name.
Addresses resolve(const std::string& host, int flags, std::string& why) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    addrinfo* found = nullptr;
    const auto error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
    if (error != 0) {
        why = ::gai_strerror(error);
        found = nullptr;
    }
    return {found, ::freeaddrinfo};
}

/// Why nobody could listen at this host here; empty when one could. The port is left out: the node
/// itself may be running.
std::string cannot_listen(const std::string& host) {
    std::string why;
    const auto found = resolve(host, AI_PASSIVE, why);
    if (!found) return "does not resolve here: " + why;
    const int fd = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return {};
    const auto bound = ::bind(fd, found->ai_addr, found->ai_addrlen) == 0;
    const auto absent = !bound && errno == EADDRNOTAVAIL;
    ::close(fd);
    return absent ? "is no address of this machine" : "";
}

/// The reason why this process may not do that with a file or folder; empty when it may.
std::string refused(const std::filesystem::path& place, int what) {
    if (::faccessat(AT_FDCWD, place.c_str(), what, AT_EACCESS) == 0) return {};
    return std::system_category().message(errno);
}

/// `23.5GiB`, rounded down.
std::string gibibytes(std::uint64_t bytes) {
    const auto tenths = bytes / ((1ull << 30) / 10);
    return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + "GiB";
}

/// Names of other machines, each with the settings that have it.
using Names = std::map<std::string, std::vector<std::string>>;

Names names_of(const Config& config) {
    Names names;
    for (std::size_t i = 0; i < config.origins.size(); ++i) {
        const auto& origin = config.origins[i];
        const auto path = "$.origins[" + std::to_string(i) + "].";
        if (!origin.group) names[origin.server.host].push_back(path + "url");
        for (std::size_t k = 0; origin.group && k < origin.group->servers.size(); ++k)
            names[origin.group->servers[k].place.host].push_back(path + "upstreams[" +
                                                                 std::to_string(k) + "].url");
    }
    const auto& parents = config.forward.parents;
    for (std::size_t i = 0; parents && i < parents->servers.size(); ++i)
        names[parents->servers[i].place.host].push_back("$.forward.parent[" + std::to_string(i) +
                                                        "]");
    if (config.tracing) names[config.tracing->endpoint.place.host].push_back("$.tracing.endpoint");
    if (!config.cluster) return names;
    for (std::size_t i = 0; i < config.cluster->peers.size(); ++i) {
        const auto& peer = config.cluster->peers[i];
        if (peer.node == config.node) continue;
        const auto path = "$.cluster.peers[" + std::to_string(i) + "].";
        names[peer.http.host].push_back(path + "http");
        if (peer.link.host != peer.http.host) names[peer.link.host].push_back(path + "link");
    }
    for (const auto& entry : config.cluster->dns_peers)
        if (entry.has_ports()) names[entry.name].push_back("$.cluster.peers");
    return names;
}

/// May every user of this machine read the file, and get there?
bool is_for_everybody(const std::filesystem::path& file) {
    using std::filesystem::perms;
    std::error_code error;
    auto at = std::filesystem::canonical(file, error);
    if (error) return false;
    const auto may = [&](perms what) {
        const auto status = std::filesystem::status(at, error);
        return !error && (status.permissions() & what) != perms::none;
    };
    if (!may(perms::others_read)) return false;
    while (at.has_relative_path()) {
        at = at.parent_path();
        if (!may(perms::others_exec)) return false;
    }
    return true;
}

}  // namespace

std::vector<ConfigError> open_secrets(const Config& config, const std::filesystem::path& file,
                                      const std::vector<std::string>& written) {
    std::vector<ConfigError> found;
    if (config.tls) {
        const auto pairs = certificate_pairs(*config.tls);
        for (std::size_t i = 0; i < pairs.size(); ++i)
            if (is_for_everybody(pairs[i].key))
                found.push_back({certificate_setting(*config.tls, i) + ".key",
                                 pairs[i].key + " can be read by every user of this machine"});
    }
    if (const auto& authentication = config.forward.authentication;
        authentication && is_for_everybody(authentication->users))
        found.push_back({"$.forward.authentication.users",
                         authentication->users + " can be read by every user of this machine"});
    if (const auto& intercept = config.forward.intercept;
        intercept && is_for_everybody(intercept->ca.key))
        found.push_back({"$.forward.intercept.ca.key",
                         intercept->ca.key + " can be read by every user of this machine"});
    if (!written.empty() && is_for_everybody(file))
        for (const auto& path : written)
            found.push_back({path, "stands in " + file.string() +
                                       ", which every user of this machine can read; ${NAME} keeps "
                                       "it in the environment"});
    return found;
}

std::vector<ConfigError> missing_files(const Config& config) {
    const auto& access = config.log.access;
    if (access == "off" || access == "stdout") return {};
    const std::filesystem::path file(access);
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored))
        return {{"$.log.access", access + " is a folder, not a file"}};
    const auto folder = file.has_parent_path() ? file.parent_path() : ".";
    if (!std::filesystem::is_directory(folder, ignored))
        return {{"$.log.access", "there is no folder " + folder.string()}};
    const auto is_there = std::filesystem::exists(file, ignored);
    if (const auto why = is_there ? refused(file, W_OK) : refused(folder, W_OK | X_OK);
        !why.empty())
        return {{"$.log.access", "cannot write " + access + ": " + why}};
    return {};
}

std::vector<ConfigError> doubts_here(const Config& config) {
    std::vector<ConfigError> found;
    const auto listens = [&](const char* path, const HostPort& where) {
        if (auto why = cannot_listen(where.host); !why.empty())
            found.push_back({path, where.host + ' ' + why});
    };
    listens("$.listen", config.listen);
    if (config.tls) listens("$.tls.listen", config.tls->listen);
    if (config.admin) listens("$.admin.listen", config.admin->listen);
    if (config.cluster) listens("$.cluster.listen", config.cluster->listen);

    auto limits = resource_limits();
    const auto pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGE_SIZE);
    if (pages > 0 && page > 0) {
        const auto memory = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
        if (config.cache.memory > memory) {
            found.push_back(
                {"$.cache.memory", "is more than this machine has (" + gibibytes(memory) + ")"});
            limits.memory.reset();
        }
    }
    for (auto& doubt : beyond(limits, config)) found.push_back(std::move(doubt));

    for (auto& doubt : doubtful_disks(config)) found.push_back(std::move(doubt));

    const auto names = names_of(config);
    std::vector<std::pair<const Names::value_type*, std::future<std::string>>> under_way;
    const auto take = [&] {
        for (auto& [name, result] : under_way) {
            const auto why = result.get();
            if (why.empty()) continue;
            for (const auto& path : name->second)
                found.push_back({path, name->first + " does not resolve here: " + why});
        }
        under_way.clear();
    };
    for (const auto& name : names) {
        under_way.emplace_back(&name, std::async(std::launch::async, [host = name.first] {
            std::string why;
            resolve(host, 0, why);
            return why;
        }));
        if (under_way.size() == kNamesAtOnce) take();
    }
    take();
    return found;
}

}  // namespace proxy
