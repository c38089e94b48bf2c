#include "proxy/reloader.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <exception>
#include <memory>
#include <system_error>
#include <utility>

#include "protocol/net/plain_message.hpp"
#include "proxy/config/mounted_file.hpp"
#include "proxy/net/awaited_value.hpp"
#include "proxy/net/load_config.hpp"

namespace proxy {
namespace {

constexpr std::chrono::seconds kReloadDeadline{10};  // for whoever waits; the reload goes on

double unix_time() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string join(const std::vector<std::string>& paths) {
    std::string text;
    for (const auto& path : paths) text.append(text.empty() ? "" : ", ").append(path);
    return text.empty() ? "nothing" : text;
}

/// One line; without a path where the file as a whole is at fault, which the message names.
std::string text_of(const ConfigError& error) {
    auto text = describe({error});
    text.pop_back();  // the newline
    return text;
}

ConfigRead failed(std::string why) {
    ConfigRead read;
    read.errors.push_back({"$", std::move(why)});
    return read;
}

}  // namespace

Reloader::Reloader(boost::asio::io_context& control, std::filesystem::path file, Hooks hooks)
    : control_(control), file_(std::move(file)), hooks_(std::move(hooks)) {
    status_.loaded_at = unix_time();
}

void Reloader::reload(std::string who, Done done) {
    boost::asio::post(control_, [this] { hooks_.begins(); });
    if (waiting_.fetch_add(1) >= kMaxWaiting) {
        boost::asio::post(control_, [this, who = std::move(who), done = std::move(done)] {
            finish(who, failed("too many reloads are waiting already"), done);
        });
        return;
    }
    boost::asio::post(reader_, [this, who = std::move(who), done = std::move(done)]() mutable {
        // One reader and one control thread, both in order: the last file that was read wins.
        auto result = std::make_shared<ConfigRead>(read());
        boost::asio::post(control_, [this, result, who = std::move(who), done = std::move(done)] {
            finish(who, std::move(*result), done);
        });
    });
}

boost::asio::awaitable<Reloaded> Reloader::reload_and_wait(std::string who) {
    const auto reply =
        std::make_shared<AwaitedValue<Reloaded>>(std::make_shared<Wakeup>(control_.get_executor()));
    reload(std::move(who), [reply](const Reloaded& reloaded) { reply->give(reloaded); });
    const auto in_time =
        co_await reply->wait_until(std::chrono::steady_clock::now() + kReloadDeadline);
    if (in_time) co_return reply->value();
    Reloaded late;
    late.errors.push_back({"$", "reading the file takes long; the log will say how it ended"});
    co_return late;
}

ConfigRead Reloader::read() const {
    if (file_.empty()) return failed("this node was not started from a file");
    try {
        std::error_code error;
        const auto status = std::filesystem::status(file_, error);
        if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
            return failed(file_.string() + " is not a file that can be read again");
        if (was_replaced(file_))
            return failed(file_.string() +
                          " was removed or replaced where it comes from, and what is mounted here "
                          "is the old file: mount its folder instead, and start anew");
        ConfigRead read{load_config(file_)};  // says why when it is not there
        read.is_mounted_alone = is_mounted_alone(file_);
        if (read.config) read.access_log = LogSink(read.config->log.access);
        return read;
    } catch (const std::exception& unexpected) {
        return failed(protocol::plain_message(unexpected));
    }
}

/// What a reload throws is its end, not that of whoever waits for it.
Reloaded Reloader::applied(ConfigRead read) const {
    const auto is_mounted_alone = read.is_mounted_alone;
    try {
        auto reloaded = hooks_.apply(std::move(read));
        // What was replaced has other names still, so it cannot be seen.
        if (reloaded.outcome == Reloaded::Outcome::applied && reloaded.changed.empty() &&
            is_mounted_alone)
            reloaded.warnings.push_back(
                {"$",
                 file_.string() +
                     " is mounted by itself, not its folder: what an editor, or sed -i, puts in "
                     "its place is not seen here"});
        return reloaded;
    } catch (const std::exception& unexpected) {
        Reloaded refused;
        refused.errors.push_back({"$", protocol::plain_message(unexpected)});
        return refused;
    }
}

void Reloader::finish(const std::string& who, ConfigRead read, const Done& done) {
    --waiting_;
    const auto warnings = std::move(read.warnings);
    const auto result = applied(std::move(read));
    switch (result.outcome) {
        case Reloaded::Outcome::applied:
            ++status_.reloads;
            if (!result.changed.empty()) ++status_.generation;
            status_.loaded_at = unix_time();
            status_.last_error.clear();
            spdlog::info("{}: configuration reloaded, changed: {}{}", who, join(result.changed),
                         result.read_certificates ? "; certificates were read again" : "");
            for (const auto& each : warnings)
                spdlog::warn("{}: configuration: {}: {}", who, each.path, each.message);
            for (const auto& each : result.warnings)
                spdlog::warn("{}: configuration: {}", who, each.message);
            break;
        case Reloaded::Outcome::refused:
            ++status_.failures;
            status_.last_error = text_of(result.errors.front());
            for (const auto& each : result.errors)
                spdlog::error("{}: configuration not reloaded: {}", who, text_of(each));
            break;
        case Reloaded::Outcome::draining:
            spdlog::warn("{}: configuration not reloaded: the node is draining", who);
            break;
    }
    hooks_.ended();
    if (done) done(result);
}

}  // namespace proxy
