#include "proxy/net/blocklist_renewal.hpp"

#include <malloc.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <utility>

#include "protocol/net/plain_message.hpp"
#include "proxy/blocklists/read_blocklists.hpp"

namespace proxy {
namespace {

constexpr std::chrono::seconds kDropInterval{1};

}  // namespace

BlocklistRenewal::BlocklistRenewal(const boost::asio::any_io_executor& executor,
                                   std::stop_token stop, Renewed renewed)
    : stop_(std::move(stop)),
      renewed_(std::move(renewed)),
      files_(executor,
             [this] {
                 try {
                     look();
                 } catch (const std::exception& unexpected) {
                     spdlog::error("cannot renew blocklists: {}",
                                   protocol::plain_message(unexpected));
                 }
             }),
      drop_timer_(executor) {}

void BlocklistRenewal::follow(std::shared_ptr<const Config> config) {
    config_ = std::move(config);
    watch();
    if (!config_->blocklists) return;
    keep(config_->blocklists);
    if (have_changed(*config_->blocklists)) files_.note_change();
}

void BlocklistRenewal::watch() {
    std::vector<std::filesystem::path> files;
    if (config_->blocklists)
        for (const auto& list : config_->forward.blocklists) files.emplace_back(list.path);
    const auto error = files_.watch(files);
    auto text = error ? error.message() : std::string();
    if (text != trouble_ && error)
        spdlog::warn(
            "changed blocklists take effect by a reload only, because their folders cannot be "
            "watched: {}",
            text);
    trouble_ = std::move(text);
}

void BlocklistRenewal::look() {
    if (!config_ || !config_->blocklists) return;
    watch();  // before the look, so that no change falls between them
    const auto begun = std::chrono::steady_clock::now();
    auto read = read_blocklists(config_->forward, config_->blocklists, stop_);
    if (stop_.stop_requested()) return;
    std::string failure;
    for (const auto& error : read.errors) failure.append(error.path).append(error.message);
    if (failure != std::exchange(failure_, failure))
        for (const auto& error : read.errors)
            spdlog::error("blocklists not renewed, the former ones stay: {}: {}", error.path,
                          error.message);
    if (!read.is_new) return;
    for (const auto& doubt : read.warnings)
        spdlog::warn("blocklists: {}: {}", doubt.path, doubt.message);
    spdlog::info("blocklists were read again: {} entries, in {:.1f} s",
                 read.lists->index().hashes(),
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
    keep(read.lists);
    renewed_(config_->blocklists, std::move(read.lists));
}

void BlocklistRenewal::keep(std::shared_ptr<const Blocklists> lists) {
    if (!lists || std::ranges::find(kept_, lists) != kept_.end()) return;
    kept_.push_back(std::move(lists));
    if (!std::exchange(dropping_, true)) drop_unused();
}

/// Lists that only this object has cannot be shared again.
void BlocklistRenewal::drop_unused() {
    if (std::erase_if(kept_, [](const auto& lists) { return lists.use_count() == 1; }) > 0)
        ::malloc_trim(0);
    dropping_ = kept_.size() > 1;
    if (!dropping_) return;
    drop_timer_.expires_after(kDropInterval);
    drop_timer_.async_wait([this](const boost::system::error_code& error) {
        if (!error) drop_unused();
    });
}

}  // namespace proxy
