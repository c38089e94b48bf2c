#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "proxy/access/token_bucket.hpp"

namespace proxy {

/// The use that one client, or one user, has made of a node lately. Any thread.
struct Account {
    SharedBucket requests, bytes;
    std::atomic<std::uint32_t> in_progress{0};  // requests and tunnels

    /// The time from which the account says nothing that a new one would not say.
    TokenBucket::Time empty_at() const {
        return std::max(requests.state().full_at, bytes.state().full_at);
    }
};

/// The accounts of many clients, in bounded memory: at most kShards * kPerShard of them, and those
/// in use. An account takes about 200 bytes, so all of them take 13 MB. Any thread.
///
/// A full shard makes room for a new account: it looks at some accounts in turn, and forgets those
/// that are empty, or else the one that is the nearest to it. So whoever has used up the most stays
/// known, however many others come.
class Accounts {
public:
    static constexpr std::size_t kShards = 16, kPerShard = 4096;
    using Time = TokenBucket::Time;

    explicit Accounts(std::size_t per_shard = kPerShard) : per_shard_(per_shard) {}

    /// The account under this key, or a new one.
    std::shared_ptr<Account> open(const std::string& key, Time now);
    std::size_t size() const;

private:
    using Entries = std::map<std::string, std::shared_ptr<Account>>;
    struct Shard {
        mutable std::mutex mutex;
        Entries entries;
        std::string next_look;  // a key
    };

    void make_room(Shard& shard, Time now) const;

    const std::size_t per_shard_;
    std::array<Shard, kShards> shards_;
};

/// A request or tunnel that counts in its account until it ends.
class AccountUse {
public:
    AccountUse() = default;
    explicit AccountUse(std::shared_ptr<Account> account) : account_(std::move(account)) {
        account_->in_progress.fetch_add(1, std::memory_order_relaxed);
    }
    AccountUse(AccountUse&& other) noexcept = default;
    AccountUse& operator=(AccountUse&& other) noexcept {
        std::swap(account_, other.account_);
        return *this;
    }
    ~AccountUse() {
        if (account_) account_->in_progress.fetch_sub(1, std::memory_order_relaxed);
    }

    explicit operator bool() const { return account_ != nullptr; }
    Account& operator*() const { return *account_; }
    Account* operator->() const { return account_.get(); }

private:
    std::shared_ptr<Account> account_;
};

}  // namespace proxy
