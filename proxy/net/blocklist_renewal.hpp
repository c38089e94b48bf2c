#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "proxy/blocklists/blocklists.hpp"
#include "proxy/config/config.hpp"
#include "proxy/net/settled_watch.hpp"

namespace proxy {

/// Watches the files of the blocklists, and reads all lists anew when one has changed. Lists that
/// cannot be read are logged, and the former ones stay. One thread, that of the executor, which
/// waits for disks.
///
/// This thread also ends lists that nobody uses any more, because the end of a large file takes
/// tens of milliseconds.
class BlocklistRenewal {
public:
    /// Gets the lists to put in effect. `was`: those that they replace.
    using Renewed = std::function<void(const std::shared_ptr<const Blocklists>& was,
                                       std::shared_ptr<const Blocklists> lists)>;

    /// A requested `stop` ends a reading at once.
    BlocklistRenewal(const boost::asio::any_io_executor& executor, std::stop_token stop,
                     Renewed renewed);

    /// Follows the files of this configuration from now on.
    void follow(std::shared_ptr<const Config> config);
    /// Ends these lists here, when nobody else uses them.
    void keep(std::shared_ptr<const Blocklists> lists);

private:
    void watch();
    void look();
    void drop_unused();

    std::stop_token stop_;
    Renewed renewed_;
    SettledWatch files_;
    boost::asio::steady_timer drop_timer_;
    bool dropping_ = false;  // the timer runs
    std::shared_ptr<const Config> config_;
    std::vector<std::shared_ptr<const Blocklists>> kept_;
    std::string trouble_;  // with the watch, as logged
    std::string failure_;  // of the last look, as logged
};

}  // namespace proxy
