#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "proxy/access/password_file.hpp"
#include "proxy/blocklists/blocklists.hpp"
#include "proxy/config/loaded_config.hpp"
#include "proxy/tls/tls_contexts.hpp"

namespace proxy {

// The kinds of FileRenewal. A read has the new `value`, null if nothing is new, and in `news` the
// errors that the log does not have yet.

/// Tells the same errors once.
class ErrorNews {
public:
    std::vector<ConfigError> of(std::vector<ConfigError> errors);

private:
    std::string told_;
};

/// The server certificates, and the CA of `forward.intercept`: the pairs whose files have changed.
/// The log has an error once for each state of a file.
class CertificateFilesKind {
public:
    using Value = TlsContexts;
    using Read = CertificatesRead;
    static constexpr auto kMember = &WatchedFiles::tls;
    static constexpr auto kName = "certificates";
    static constexpr auto kTakenBy = "renewed certificates take effect by";
    static constexpr auto kFolders = "their folders";
    static constexpr auto kNotRenewed = "certificate not renewed, the former one stays";

    std::vector<std::filesystem::path> files(const LoadedConfig& config, const Value& now) const;
    bool may_have_changed(const Value& now) const;
    Read read(const LoadedConfig& config, const std::shared_ptr<const Value>& now);

private:
    std::map<std::string, PairStamp> failed_;  // CertificatesRead::failed of the last read
};

/// The file of `forward.authentication.users`.
class UsersFileKind {
public:
    using Value = PasswordFile;
    struct Read {
        std::shared_ptr<const PasswordFile> value;
        std::vector<ConfigError> news;
    };
    static constexpr auto kMember = &WatchedFiles::users;
    static constexpr auto kName = "the users";
    static constexpr auto kTakenBy = "a changed users' file takes effect by";
    static constexpr auto kFolders = "its folder";
    static constexpr auto kNotRenewed = "users not renewed, the former ones stay";

    std::vector<std::filesystem::path> files(const LoadedConfig& config, const Value& now) const;
    bool may_have_changed(const Value&) const { return true; }  // nobody knows its state
    Read read(const LoadedConfig& config, const std::shared_ptr<const Value>& now);

private:
    ErrorNews errors_;
};

/// The files of `forward.blocklists`. A requested stop ends a reading at once.
class BlocklistFilesKind {
public:
    using Value = Blocklists;
    struct Read {
        std::shared_ptr<const Blocklists> value;
        std::vector<ConfigError> news;
    };
    static constexpr auto kMember = &WatchedFiles::blocklists;
    static constexpr auto kName = "blocklists";
    static constexpr auto kTakenBy = "changed blocklists take effect by";
    static constexpr auto kFolders = "their folders";
    static constexpr auto kNotRenewed = "blocklists not renewed, the former ones stay";

    explicit BlocklistFilesKind(std::stop_token stop) : stop_(std::move(stop)) {}

    std::vector<std::filesystem::path> files(const LoadedConfig& config, const Value& now) const;
    bool may_have_changed(const Value& now) const;
    Read read(const LoadedConfig& config, const std::shared_ptr<const Value>& now);

private:
    std::stop_token stop_;
    ErrorNews errors_;
};

/// Ends blocklists that nobody uses any more on the thread of its executor, because the end of a
/// large file takes tens of milliseconds.
class BlocklistKeeper {
public:
    explicit BlocklistKeeper(const boost::asio::any_io_executor& executor) : timer_(executor) {}

    /// Ends these lists here, when nobody else uses them. Null: none.
    void keep(std::shared_ptr<const Blocklists> lists);

private:
    void drop_unused();

    boost::asio::steady_timer timer_;
    bool dropping_ = false;  // the timer runs
    std::vector<std::shared_ptr<const Blocklists>> kept_;
};

}  // namespace proxy
