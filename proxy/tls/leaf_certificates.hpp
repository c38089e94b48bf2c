#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/async/awaited_value.hpp"
#include "proxy/tls/leaf_certificate.hpp"

namespace proxy {

/// Sums of LeafCertificates.
struct LeafNumbers {
    std::uint64_t cached = 0, minted = 0, mint_us = 0;
};

/// The certificates that a node shows to clients whose `CONNECT` it answers itself. A thread of its
/// own signs one after the other, so no worker waits for that, and all requests for a host wait for
/// one signature. An old certificate is given while the next one is made. All have one key, which
/// lives as long as this object. The thread starts with the first signature. Any thread.
class LeafCertificates {
public:
    static constexpr std::size_t kCached = 1024;         // hosts
    static constexpr std::size_t kWaiting = 256;         // hosts to be signed for
    static constexpr std::size_t kWaitersOfHost = 1024;  // requests
    static constexpr std::chrono::seconds kWaitAtMost{10};

    using Authority = std::shared_ptr<const SigningAuthority>;
    /// Makes a certificate; a test has another one.
    using Mint = std::function<LeafPtr(const SigningAuthority&, const std::string& host)>;

    LeafCertificates();
    explicit LeafCertificates(Mint mint);
    ~LeafCertificates();
    LeafCertificates(const LeafCertificates&) = delete;
    LeafCertificates& operator=(const LeafCertificates&) = delete;

    /// A certificate for `host` by `authority`. Null if too many hosts wait, if the signature takes
    /// too long or fails, or after close(). The log has the reason of a failure.
    boost::asio::awaitable<LeafPtr> get(Authority authority, std::string host,
                                        boost::asio::any_io_executor executor);
    LeafNumbers numbers();
    /// Ends the thread. The executors of all that wait still live.
    void close();

private:
    using Reply = base::AwaitedValue<LeafPtr>;
    using Name = std::pair<std::string, std::string>;  // fingerprint of the CA, host
    struct Job {
        Authority authority;
        std::string host;
        std::vector<std::shared_ptr<Reply>> waiters;
    };

    LeafPtr find(const Authority& authority, const std::string& host, bool& waits,
                 const std::shared_ptr<Reply>& reply);
    bool ask(const Authority& authority, const std::string& host,
             const std::shared_ptr<Reply>& reply);
    void run();
    void answer(const Name& name, LeafPtr leaf, std::chrono::microseconds took);

    const Mint mint_;
    std::mutex mutex_;
    std::condition_variable wake_;
    LeafCache cache_{kCached};
    std::map<Name, Job> pending_;  // with the one that is signed
    std::deque<Name> queue_;
    std::uint64_t minted_ = 0;
    std::chrono::microseconds mint_time_{0};
    std::thread thread_;
    bool closed_ = false;
};

}  // namespace proxy
