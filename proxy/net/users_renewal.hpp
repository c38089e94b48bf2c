#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string>

#include "proxy/access/access_rules.hpp"
#include "proxy/config/config.hpp"
#include "proxy/net/settled_watch.hpp"

namespace proxy {

/// Watches the users' file, and reads it anew when it has changed. A file that cannot be read is
/// logged, and the former users stay. One thread, that of the executor, which may block on a disk.
class UsersRenewal {
public:
    /// Gets the rules to put in effect. `was`: those that they replace.
    using Renewed = std::function<void(const std::shared_ptr<const AccessRules>& was,
                                       std::shared_ptr<const AccessRules> rules)>;

    UsersRenewal(const boost::asio::any_io_executor& executor, Renewed renewed);

    /// Follows the file of this configuration from now on, and looks at it once, because it may
    /// have changed since it was read.
    void follow(std::shared_ptr<const Config> config);

private:
    bool has_users() const { return config_ && config_->access && config_->access->users; }
    void watch();
    void look();

    Renewed renewed_;
    SettledWatch files_;
    std::shared_ptr<const Config> config_;
    std::string trouble_;  // with the watch, as logged
    std::string failure_;  // of the last look, as logged
};

}  // namespace proxy
