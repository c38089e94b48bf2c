#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/async/awaited_value.hpp"
#include "proxy/admin/node_status.hpp"
#include "proxy/config/config_changes.hpp"
#include "proxy/node/file_renewal.hpp"
#include "proxy/node/load_config.hpp"
#include "proxy/node/renewed_files.hpp"
#include "proxy/node/service_notices.hpp"
#include "proxy/node/settings_in_effect.hpp"
#include "proxy/telemetry/log_sink.hpp"

namespace proxy {

/// A configuration file as a reload has read it, with the access log that it names.
struct ConfigRead : LoadResult {
    LogSink access_log{};           // open
    bool is_mounted_alone = false;  // see mounted_file.hpp
};

/// Reloads the configuration file, in the order of the requests, and logs and counts the results.
/// Puts renewed certificates, users and blocklists in effect as well, and nothing else with them. A
/// thread of its own reads and watches the files, because a disk may hang, and because long lists
/// take seconds. All calls on the control thread.
class Reloader {
public:
    static constexpr unsigned kMaxPending = 16;  // further reloads are refused

    /// `file`: absolute; empty for a node that was not started from a file. `settings` and
    /// `notices` outlive this object.
    Reloader(boost::asio::io_context& control, std::filesystem::path file,
             SettingsInEffect& settings, ServiceNotices& notices);
    ~Reloader();

    /// Starts a reload. The log names its reason, `cause`.
    void reload(std::string cause);
    /// The same, and waits for its end. After 10 s the result is `under_way`, and the reload
    /// itself goes on.
    boost::asio::awaitable<Reloaded> reload_and_wait(std::string cause);

    /// Begins to watch certificates, users and blocklists of the configuration in effect.
    void watch_files();

    const ConfigStatus& status() const { return status_; }
    /// The status has these until the next reload. Before the threads start.
    void note_warnings(const std::vector<ConfigError>& warnings);

private:
    using Waiter = std::shared_ptr<base::AwaitedValue<Reloaded>>;  // null: nobody waits

    void reload(std::string cause, Waiter waiter);
    ConfigRead read(std::shared_ptr<const Blocklists> before);
    Reloaded applied(ConfigRead read) const;
    void finish(const std::string& cause, ConfigRead read, const Waiter& waiter);
    template <class Kind>
    typename FileRenewal<Kind>::RenewalHandler renewed();
    void log(const CertificatesRead& read) const;
    void log_and_count(const std::string& cause, const Reloaded& result,
                       const std::vector<ConfigError>& warnings);

    boost::asio::io_context& control_;
    const std::filesystem::path file_;
    SettingsInEffect& settings_;
    ServiceNotices& notices_;
    ConfigStatus status_;
    unsigned pending_ = 0;  // reloads
    std::stop_source stop_;
    boost::asio::thread_pool reader_{1};
    // On the reader's thread.
    FileRenewal<CertificateFilesKind> certificates_;
    FileRenewal<UsersFileKind> users_;
    FileRenewal<BlocklistFilesKind> blocklists_;
    BlocklistKeeper lists_kept_;
};

}  // namespace proxy
