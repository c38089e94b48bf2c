#pragma once

#include <chrono>
#include <cstddef>
#include <cstring>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/tls/crypto.hpp"

namespace proxy {

/// The results of the last checks of passwords, in bounded memory. A key is a MAC under a key of
/// this process over user, password and the hash of the file, so a changed line has other keys, and
/// memory shows no password. Right and wrong results have places of their own, so guesses displace
/// no right one. One thread at a time.
class VerifiedPasswords {
public:
    using Time = std::chrono::steady_clock::time_point;
    using Key = base::Mac;
    static constexpr std::chrono::minutes kRightFor{10};
    static constexpr std::chrono::seconds kWrongFor{10};
    static constexpr std::size_t kMost = 16 * 1024;  // of each kind, about 100 bytes each

    explicit VerifiedPasswords(std::size_t most = kMost) : most_(most) {}

    /// Whether the password was right; nothing if the check is unknown, or too long ago.
    std::optional<bool> find(const Key& key, Time now) const {
        if (right_.has(key, now)) return true;
        if (wrong_.has(key, now)) return false;
        return std::nullopt;
    }
    void put(const Key& key, bool right, Time now) {
        if (right)
            right_.put(key, now + kRightFor, now, most_);
        else
            wrong_.put(key, now + kWrongFor, now, most_);
    }
    std::size_t size() const { return right_.ends.size() + wrong_.ends.size(); }

private:
    struct HashOfMac {
        std::size_t operator()(const Key& key) const {
            std::size_t hash = 0;
            std::memcpy(&hash, key.data(), sizeof hash);
            return hash;
        }
    };
    /// All live for the same span, so the oldest ends first.
    struct Kind {
        std::unordered_map<Key, Time, HashOfMac> ends;
        std::deque<Key> order;

        bool has(const Key& key, Time now) const {
            const auto found = ends.find(key);
            return found != ends.end() && now < found->second;
        }
        void drop_oldest() {
            ends.erase(order.front());
            order.pop_front();
        }
        void put(const Key& key, Time end, Time now, std::size_t most) {
            while (!order.empty() && (ends.size() >= most || ends.at(order.front()) <= now))
                drop_oldest();
            if (ends.emplace(key, end).second) order.push_back(key);
        }
    };

    const std::size_t most_;
    Kind right_, wrong_;
};

}  // namespace proxy
