#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/net/settled_watch.hpp"
#include "proxy/net/tls_contexts.hpp"

namespace proxy {

/// Watches the files of the server certificates and of the CA of `forward.intercept`, and reads
/// those that have changed. A pair that
/// cannot be read is logged once for each state of its files; the former certificate stays. One
/// thread, that of the executor, which may block on a disk.
class CertificateRenewal {
public:
    /// Gets the contexts to put in effect. `was`: those on which they are based.
    using Renewed =
        std::function<void(const std::shared_ptr<const TlsContexts>& was, CertificatesRead read)>;

    CertificateRenewal(const boost::asio::any_io_executor& executor, Renewed renewed);

    /// Follows the files of this configuration from now on. A file that has changed since
    /// `config->tls_contexts` was read counts as a change.
    void follow(std::shared_ptr<const Config> config);

private:
    void watch();
    void look();

    Renewed renewed_;
    SettledWatch files_;
    std::shared_ptr<const Config> config_;
    bool watches_ = false;                     // some files
    std::map<std::string, PairStamp> failed_;  // CertificatesRead::failed of the last look
    std::string trouble_;                      // with the watch, as logged
};

}  // namespace proxy
