#include "proxy/reloader.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <memory>
#include <system_error>
#include <utility>

#include "proxy/net/load_config.hpp"

namespace proxy {
namespace {

double unix_time() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string join(const std::vector<std::string>& paths) {
    std::string text;
    for (const auto& path : paths) text.append(text.empty() ? "" : ", ").append(path);
    return text.empty() ? "nothing" : text;
}

}  // namespace

Reloader::Reloader(boost::asio::io_context& control, std::filesystem::path file, Apply apply)
    : control_(control), file_(std::move(file)), apply_(std::move(apply)) {
    status_.loaded_at = unix_time();
}

void Reloader::reload(std::string who, Done done) {
    if (waiting_.fetch_add(1) >= kMaxWaiting) {
        boost::asio::post(control_, [this, who = std::move(who), done = std::move(done)] {
            finish(who, {std::nullopt, {{"$", "too many reloads are waiting already"}}}, done);
        });
        return;
    }
    boost::asio::post(reader_, [this, who = std::move(who), done = std::move(done)]() mutable {
        // One reader and one control thread, both in order: the last file that was read wins.
        auto result = std::make_shared<ConfigResult>(read());
        boost::asio::post(control_, [this, result, who = std::move(who), done = std::move(done)] {
            finish(who, std::move(*result), done);
        });
    });
}

ConfigResult Reloader::read() const {
    const auto fail = [](std::string why) {
        return ConfigResult{std::nullopt, {{"$", std::move(why)}}};
    };
    if (file_.empty()) return fail("this node was not started from a file");
    std::error_code error;
    const auto status = std::filesystem::status(file_, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        return fail(file_.string() + " is not a file that can be read again");
    return load_config(file_);  // says why when it is not there
}

void Reloader::finish(const std::string& who, ConfigResult read, const Done& done) {
    --waiting_;
    const auto warnings = std::move(read.warnings);
    const auto result = apply_(std::move(read));
    switch (result.outcome) {
        case Reloaded::Outcome::applied:
            ++status_.reloads;
            if (!result.changed.empty()) ++status_.generation;
            status_.loaded_at = unix_time();
            status_.last_error.clear();
            spdlog::info("{}: configuration reloaded, changed: {}", who, join(result.changed));
            for (const auto& each : warnings)
                spdlog::warn("{}: configuration: {}: {}", who, each.path, each.message);
            break;
        case Reloaded::Outcome::refused:
            ++status_.failures;
            status_.last_error = describe({result.errors.front()});
            status_.last_error.pop_back();  // the newline
            for (const auto& each : result.errors)
                spdlog::error("{}: configuration not reloaded: {}: {}", who, each.path,
                              each.message);
            break;
        case Reloaded::Outcome::draining:
            spdlog::warn("{}: configuration not reloaded: the node is draining", who);
            break;
    }
    if (done) done(result);
}

}  // namespace proxy
