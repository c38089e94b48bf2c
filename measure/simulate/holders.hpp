#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "summary/directory/peer_set.hpp"

namespace measure {

/// The proxies that hold each object: one bit for each pair. Memory: `objects` * 8 bytes for each
/// 64 proxies.
class Holders {
public:
    Holders(std::size_t objects, std::size_t proxies)
        : words_each_((proxies + 63) / 64), words_(objects * words_each_) {}

    bool has(std::uint32_t object, std::size_t proxy) const {
        return (words_[place(object, proxy)] >> (proxy % 64) & 1) != 0;
    }
    void add(std::uint32_t object, std::size_t proxy) {
        words_[place(object, proxy)] |= std::uint64_t{1} << (proxy % 64);
    }
    void remove(std::uint32_t object, std::size_t proxy) {
        words_[place(object, proxy)] &= ~(std::uint64_t{1} << (proxy % 64));
    }
    /// Visits every object.
    void remove_all(std::size_t proxy) {
        for (auto i = proxy / 64; i < words_.size(); i += words_each_)
            words_[i] &= ~(std::uint64_t{1} << (proxy % 64));
    }
    void set(std::uint32_t object, std::size_t proxy, bool has) {
        has ? add(object, proxy) : remove(object, proxy);
    }

    summary::PeerSet of(std::uint32_t object) const {
        summary::PeerSet result;
        for (std::size_t i = 0; i < words_each_; ++i) {
            const auto word = words_[object * words_each_ + i];
            if (word != 0) result.insert_word(i, word);
        }
        return result;
    }
    /// Returns true if another proxy holds the object.
    bool any_but(std::uint32_t object, std::size_t proxy) const {
        for (std::size_t i = 0; i < words_each_; ++i) {
            auto word = words_[object * words_each_ + i];
            if (i == proxy / 64) word &= ~(std::uint64_t{1} << (proxy % 64));
            if (word != 0) return true;
        }
        return false;
    }

private:
    std::size_t place(std::uint32_t object, std::size_t proxy) const {
        return object * words_each_ + proxy / 64;
    }

    std::size_t words_each_;
    std::vector<std::uint64_t> words_;
};

}  // namespace measure
