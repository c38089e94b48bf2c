#include "proxy/node/renewed_files.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/memory/free_memory.hpp"
#include "base/text/amount.hpp"
#include "proxy/blocklists/read_blocklists.hpp"

namespace proxy {
namespace {

constexpr std::chrono::seconds kDropInterval{1};

/// The server certificates, and the CA.
std::vector<const ServerCertificate*> pairs_of(const TlsContexts& contexts) {
    std::vector<const ServerCertificate*> pairs;
    for (const auto& certificate : contexts.certificates) pairs.push_back(certificate.get());
    if (contexts.interception) pairs.push_back(contexts.interception->authority->pair.get());
    return pairs;
}

}  // namespace

std::vector<ConfigError> ErrorNews::of(std::vector<ConfigError> errors) {
    auto text = describe(errors);
    if (text == std::exchange(told_, text)) errors.clear();
    return errors;
}

std::vector<std::filesystem::path> CertificateFilesKind::files(const LoadedConfig&,
                                                               const Value& now) const {
    std::vector<std::filesystem::path> files;
    for (const auto* const pair : pairs_of(now))
        for (const auto& file : {pair->files.certificate, pair->files.key})
            files.push_back(std::filesystem::absolute(file));
    return files;
}

bool CertificateFilesKind::may_have_changed(const Value& now) const {
    return std::ranges::any_of(pairs_of(now), [](const ServerCertificate* pair) {
        return stamp_of(pair->files) != pair->stamp;
    });
}

CertificatesRead CertificateFilesKind::read(const LoadedConfig& config,
                                            const std::shared_ptr<const Value>& now) {
    auto read = read_changed_certificates(config, *now, failed_);
    failed_ = read.failed;
    return read;
}

std::vector<std::filesystem::path> UsersFileKind::files(const LoadedConfig& config,
                                                        const Value&) const {
    return {config.forward.authentication->users};
}

UsersFileKind::Read UsersFileKind::read(const LoadedConfig& config,
                                        const std::shared_ptr<const Value>& now) {
    auto read = read_users(config.forward.authentication->users);
    std::vector<ConfigError> errors;
    for (auto& error : read.errors) errors.push_back({{}, std::move(error)});
    Read result{nullptr, errors_.of(std::move(errors))};
    if (!read.file || *read.file == *now) return result;
    spdlog::info("the users' file was read again: {}", base::amount(read.file->size(), "user"));
    result.value = std::move(read.file);
    return result;
}

std::vector<std::filesystem::path> BlocklistFilesKind::files(const LoadedConfig& config,
                                                             const Value&) const {
    std::vector<std::filesystem::path> files;
    for (const auto& list : config.forward.blocklists) files.emplace_back(list.path);
    return files;
}

bool BlocklistFilesKind::may_have_changed(const Value& now) const {
    return have_changed(now);
}

BlocklistFilesKind::Read BlocklistFilesKind::read(const LoadedConfig& config,
                                                  const std::shared_ptr<const Value>& now) {
    const auto begun = std::chrono::steady_clock::now();
    auto read = read_blocklists(config.forward, now, stop_);
    if (stop_.stop_requested()) return {};
    Read result{nullptr, errors_.of(std::move(read.errors))};
    if (!read.is_new) return result;
    for (const auto& doubt : read.warnings)
        spdlog::warn("blocklists: {}: {}", doubt.path, doubt.message);
    spdlog::info("blocklists were read again: {}, in {:.1f} s",
                 base::amount(read.lists->index().hashes(), "entry", "entries"),
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
    result.value = std::move(read.lists);
    return result;
}

void BlocklistKeeper::keep(std::shared_ptr<const Blocklists> lists) {
    if (!lists || std::ranges::find(kept_, lists) != kept_.end()) return;
    kept_.push_back(std::move(lists));
    if (!std::exchange(dropping_, true)) drop_unused();
}

/// Lists that only this object has cannot be shared again.
void BlocklistKeeper::drop_unused() {
    if (std::erase_if(kept_, [](const auto& lists) { return lists.use_count() == 1; }) > 0)
        base::return_free_memory();
    dropping_ = kept_.size() > 1;
    if (!dropping_) return;
    timer_.expires_after(kDropInterval);
    timer_.async_wait([this](const boost::system::error_code& error) {
        if (!error) drop_unused();
    });
}

}  // namespace proxy
