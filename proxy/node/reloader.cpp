#include "proxy/node/reloader.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <exception>
#include <memory>
#include <system_error>
#include <type_traits>
#include <utility>

#include "base/text/plain_message.hpp"
#include "proxy/config/mounted_file.hpp"
#include "proxy/tls/certificate_review.hpp"

namespace proxy {
namespace {

constexpr std::size_t kWarningsShown = 20;           // in the status; the log has all
constexpr std::chrono::seconds kReloadDeadline{10};  // of a waiter; the reload goes on

double unix_time() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string join(const std::vector<std::string>& paths) {
    std::string text;
    for (const auto& path : paths) text.append(text.empty() ? "" : ", ").append(path);
    return text.empty() ? "nothing" : text;
}

/// One line. An error of the whole file has no path, because its message names the file.
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

/// Called on the thread of the reader. A reload that comes first reads the files itself.
template <class Kind>
typename FileRenewal<Kind>::RenewalHandler Reloader::renewed() {
    return [this](const auto& was, typename Kind::Read read) {
        if constexpr (std::is_same_v<Kind, BlocklistFilesKind>) lists_kept_.keep(read.value);
        boost::asio::post(control_, [this, was, read = std::move(read)] {
            if (!settings_.renew(Kind::kMember, was, read.value)) return;
            if constexpr (std::is_same_v<Kind, CertificateFilesKind>) log(read);
            watch_files();
        });
    };
}

Reloader::Reloader(boost::asio::io_context& control, std::filesystem::path file,
                   SettingsInEffect& settings, ServiceNotices& notices)
    : control_(control),
      file_(std::move(file)),
      settings_(settings),
      notices_(notices),
      certificates_(reader_.get_executor(), {}, renewed<CertificateFilesKind>()),
      users_(reader_.get_executor(), {}, renewed<UsersFileKind>()),
      blocklists_(reader_.get_executor(), BlocklistFilesKind(stop_.get_token()),
                  renewed<BlocklistFilesKind>()),
      lists_kept_(reader_.get_executor()) {
    status_.loaded_at = unix_time();
}

Reloader::~Reloader() {
    stop_.request_stop();
    reader_.stop();
    reader_.join();  // the thread uses the members
}

void Reloader::note_warnings(const std::vector<ConfigError>& warnings) {
    status_.warnings.clear();
    for (const auto& each : warnings) {
        if (status_.warnings.size() == kWarningsShown) break;
        status_.warnings.push_back(text_of(each));
    }
}

void Reloader::watch_files() {
    boost::asio::post(reader_,
                      [this, config = settings_.now().share(), files = settings_.now().files()] {
                          try {
                              certificates_.follow(config, files);
                              users_.follow(config, files);
                              blocklists_.follow(config, files);
                              lists_kept_.keep(files.blocklists);
                          } catch (const std::exception& unexpected) {
                              spdlog::error("cannot watch certificates, users and blocklists: {}",
                                            base::plain_message(unexpected));
                          }
                      });
}

void Reloader::log(const CertificatesRead& read) const {
    for (const auto index : read.renewed) {
        const auto& facts = read.value->certificates[index]->facts;
        spdlog::info("certificate {} was renewed, and expires on {}", facts.file,
                     rfc3339(facts.not_after));
    }
    if (read.renewed_authority) {
        const auto& facts = read.value->interception->authority->facts;
        spdlog::info("CA {} was renewed, and expires on {}", facts.file, rfc3339(facts.not_after));
    }
    for (const auto& each : certificate_doubts(*settings_.now(), *read.value))
        spdlog::warn("certificates: {}: {}", each.path, each.message);
}

void Reloader::reload(std::string cause) {
    reload(std::move(cause), nullptr);
}

void Reloader::reload(std::string cause, Waiter waiter) {
    notices_.reload_begins();
    if (pending_ >= kMaxPending)
        return finish(cause, failed("too many reloads are waiting already"), waiter);
    ++pending_;
    boost::asio::post(reader_, [this, before = settings_.now().files().blocklists,
                                cause = std::move(cause), waiter = std::move(waiter)]() mutable {
        // One reader and one control thread, both in order: the last file that was read wins.
        auto result = std::make_shared<ConfigRead>(read(std::move(before)));
        boost::asio::post(control_,
                          [this, result, cause = std::move(cause), waiter = std::move(waiter)] {
                              --pending_;
                              finish(cause, std::move(*result), waiter);
                          });
    });
}

boost::asio::awaitable<Reloaded> Reloader::reload_and_wait(std::string cause) {
    const auto reply = std::make_shared<base::AwaitedValue<Reloaded>>(
        std::make_shared<base::Wakeup>(control_.get_executor()));
    reload(std::move(cause), reply);
    const auto in_time =
        co_await reply->wait_until(std::chrono::steady_clock::now() + kReloadDeadline);
    if (in_time) co_return reply->value();
    Reloaded late;
    late.outcome = Reloaded::Outcome::under_way;
    co_return late;
}

ConfigRead Reloader::read(std::shared_ptr<const Blocklists> before) {
    if (file_.empty()) return failed("this node was not started from a file");
    try {
        std::error_code error;
        const auto status = std::filesystem::status(file_, error);
        if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
            return failed(file_.string() + " is not a file that can be read again");
        if (was_replaced(file_))
            return failed(
                file_.string() +
                " was removed or replaced at its source, and the old file is mounted here: "
                "mount its folder instead, and restart");
        // Has an error for a missing file.
        ConfigRead read{load_config(file_, process_environment(), {before, stop_.get_token()})};
        lists_kept_.keep(read.files.blocklists);
        read.is_mounted_alone = is_mounted_alone(file_);
        if (read.config) read.access_log = LogSink(read.config->log.access);
        return read;
    } catch (const std::exception& unexpected) {
        return failed(base::plain_message(unexpected));
    }
}

/// Puts the configuration in effect. An exception refuses the reload, so its waiter gets a result.
Reloaded Reloader::applied(ConfigRead read) const {
    const auto is_mounted_alone = read.is_mounted_alone;
    try {
        auto access_log = std::move(read.access_log);
        auto reloaded = settings_.replace(std::move(read), std::move(access_log));
        // A file that is mounted alone keeps its inode: a replaced one looks like an unchanged one.
        if (reloaded.outcome == Reloaded::Outcome::applied && reloaded.changed.empty() &&
            is_mounted_alone)
            reloaded.warnings.push_back({"$", file_.string() +
                                                  " is mounted alone, without its folder: the node "
                                                  "cannot see a file that an editor, or "
                                                  "sed -i, puts in its place"});
        return reloaded;
    } catch (const std::exception& unexpected) {
        Reloaded refused;
        refused.errors.push_back({"$", base::plain_message(unexpected)});
        return refused;
    }
}

void Reloader::finish(const std::string& cause, ConfigRead read, const Waiter& waiter) {
    const auto warnings = std::move(read.warnings);
    const auto result = applied(std::move(read));
    log_and_count(cause, result, warnings);
    if (result.outcome == Reloaded::Outcome::applied) watch_files();
    notices_.reload_ended(status_.last_error);
    if (waiter) waiter->give(result);
}

void Reloader::log_and_count(const std::string& cause, const Reloaded& result,
                             const std::vector<ConfigError>& warnings) {
    switch (result.outcome) {
        case Reloaded::Outcome::applied:
            ++status_.reloads;
            if (!result.changed.empty()) ++status_.generation;
            status_.loaded_at = unix_time();
            status_.last_error.clear();
            note_warnings(warnings);
            spdlog::info("{}: configuration reloaded, changed: {}{}{}{}", cause,
                         join(result.changed),
                         result.read_certificates ? "; certificates were read again" : "",
                         result.read_users ? "; users were read again" : "",
                         result.read_blocklists ? "; blocklists were read again" : "");
            for (const auto& each : warnings)
                spdlog::warn("{}: configuration: {}: {}", cause, each.path, each.message);
            for (const auto& each : result.warnings)
                spdlog::warn("{}: configuration: {}", cause, each.message);
            break;
        case Reloaded::Outcome::refused:
            ++status_.failures;
            status_.last_error = text_of(result.errors.front());
            for (const auto& each : result.errors)
                spdlog::error("{}: configuration not reloaded: {}", cause, text_of(each));
            break;
        case Reloaded::Outcome::draining:
            spdlog::warn("{}: configuration not reloaded: the node is draining", cause);
            break;
        case Reloaded::Outcome::under_way:
            break;  // said to a waiter alone
    }
}

}  // namespace proxy
