#include "proxy/net/users_renewal.hpp"

#include <spdlog/spdlog.h>

#include <exception>
#include <filesystem>
#include <utility>
#include <vector>

#include "protocol/net/plain_message.hpp"

namespace proxy {

UsersRenewal::UsersRenewal(const boost::asio::any_io_executor& executor, Renewed renewed)
    : renewed_(std::move(renewed)), files_(executor, [this] {
          try {
              look();
          } catch (const std::exception& unexpected) {
              spdlog::error("cannot renew the users: {}", protocol::plain_message(unexpected));
          }
      }) {}

void UsersRenewal::follow(std::shared_ptr<const Config> config) {
    config_ = std::move(config);
    watch();
    if (has_users()) files_.note_change();
}

void UsersRenewal::watch() {
    std::vector<std::filesystem::path> files;
    if (has_users()) files.emplace_back(config_->forward.authentication->users);
    const auto error = files_.watch(files);
    auto text = error ? error.message() : std::string();
    if (text != trouble_ && error)
        spdlog::warn(
            "a changed users' file takes effect by a reload only, because its folder cannot be "
            "watched: {}",
            text);
    trouble_ = std::move(text);
}

void UsersRenewal::look() {
    if (!has_users()) return;
    watch();  // before the look, so that no change falls between them
    const auto& was = config_->access;
    auto read = read_users(config_->forward.authentication->users);
    std::string failure;
    for (const auto& error : read.errors) failure.append(error).append("\n");
    if (failure != std::exchange(failure_, failure))
        for (const auto& error : read.errors)
            spdlog::error("users not renewed, the former ones stay: {}", error);
    if (!read.file || *read.file == *was->users) return;
    spdlog::info("the users' file was read again: {} user{}", read.file->size(),
                 read.file->size() == 1 ? "" : "s");
    auto rules = *was;
    rules.users = std::move(read.file);
    renewed_(was, std::make_shared<const AccessRules>(std::move(rules)));
}

}  // namespace proxy
