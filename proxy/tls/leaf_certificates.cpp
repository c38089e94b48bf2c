#include "proxy/tls/leaf_certificates.hpp"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <exception>

#include "base/text/plain_message.hpp"
#include "proxy/http/wall_clock.hpp"
#include "proxy/tls/certificate_builder.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;

/// Signs now, for one key that it makes at its first call. One thread.
LeafCertificates::Mint signs_for_one_key() {
    return [key = std::shared_ptr<EVP_PKEY>()](const SigningAuthority& authority,
                                               const std::string& host) mutable {
        if (!key) key = new_p256_key();
        return mint_leaf(authority, key, host, wall_now());
    };
}

}  // namespace

LeafCertificates::LeafCertificates() : LeafCertificates(signs_for_one_key()) {}

LeafCertificates::LeafCertificates(Mint mint) : mint_(std::move(mint)) {}

LeafCertificates::~LeafCertificates() {
    close();
}

void LeafCertificates::close() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
    const std::lock_guard lock(mutex_);
    queue_.clear();
    pending_.clear();
}

/// True: `reply`, if there is one, gets the certificate.
bool LeafCertificates::ask(const Authority& authority, const std::string& host,
                           const std::shared_ptr<Reply>& reply) {
    if (closed_) return false;
    const Name name(authority->fingerprint, host);
    auto under_way = pending_.find(name);
    if (under_way == pending_.end()) {
        if (pending_.size() >= kWaiting) return false;
        under_way = pending_.emplace(name, Job{authority, host, {}}).first;
        queue_.push_back(name);
        if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
        wake_.notify_one();
    }
    auto& waiters = under_way->second.waiters;
    if (!reply) return true;
    if (waiters.size() >= kWaitersOfHost) return false;
    waiters.push_back(reply);
    return true;
}

/// The certificate, if it is there. Else `waits` says whether `reply` gets it.
LeafPtr LeafCertificates::find(const Authority& authority, const std::string& host, bool& waits,
                               const std::shared_ptr<Reply>& reply) {
    const auto now = wall_now();
    const std::lock_guard lock(mutex_);
    auto leaf = cache_.find(host, authority->fingerprint, now);
    if (!leaf)
        waits = ask(authority, host, reply);
    else if (leaf->times.is_old_at(now))
        ask(authority, host, nullptr);
    return leaf;
}

asio::awaitable<LeafPtr> LeafCertificates::get(Authority authority, std::string host,
                                               asio::any_io_executor executor) {
    const auto reply = std::make_shared<Reply>(std::make_shared<base::Wakeup>(std::move(executor)));
    auto waits = false;
    if (auto leaf = find(authority, host, waits, reply)) co_return leaf;
    if (!waits) co_return nullptr;
    const auto in_time = co_await reply->wait_until(std::chrono::steady_clock::now() + kWaitAtMost);
    if (!in_time) co_return nullptr;
    co_return reply->value();
}

void LeafCertificates::run() {
    using Clock = std::chrono::steady_clock;
    ::pthread_setname_np(::pthread_self(), "leaves");
    for (;;) {
        Name name;
        Authority authority;
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [this] { return closed_ || !queue_.empty(); });
            if (closed_) return;
            name = std::move(queue_.front());
            queue_.pop_front();
            authority = pending_.at(name).authority;
        }
        const auto begun = Clock::now();
        LeafPtr leaf;
        try {
            leaf = mint_(*authority, name.second);
        } catch (const std::exception& error) {
            spdlog::error("forward.intercept: no certificate for {}: {}", name.second,
                          base::plain_message(error));
        }
        answer(name, std::move(leaf),
               std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun));
    }
}

void LeafCertificates::answer(const Name& name, LeafPtr leaf, std::chrono::microseconds took) {
    const std::lock_guard lock(mutex_);
    mint_time_ += took;
    if (leaf) {
        ++minted_;
        cache_.put(name.second, leaf);
    }
    const auto job = pending_.extract(name);
    for (const auto& waiter : job.mapped().waiters) waiter->give(leaf);
}

LeafNumbers LeafCertificates::numbers() {
    const std::lock_guard lock(mutex_);
    return {cache_.size(), minted_, static_cast<std::uint64_t>(mint_time_.count())};
}

}  // namespace proxy
