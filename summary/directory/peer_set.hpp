#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>

namespace summary {

/// The most lanes that a directory has.
inline constexpr unsigned kMaxPeers = 1024;

/// A set of peer numbers below kMaxPeers. A value of 136 bytes that never allocates. Its work grows
/// with the highest number that was ever in it; with up to 64 peers it is one word.
class PeerSet {
public:
    /// Visits the numbers in ascending order.
    class Iterator {
    public:
        using value_type = unsigned;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::input_iterator_tag;
        using pointer = const unsigned*;
        using reference = unsigned;

        Iterator(const PeerSet& of, std::size_t word) : of_(&of), word_(word) {
            if (word_ < of_->used_) left_ = of_->words_[word_];
            find();
        }
        unsigned operator*() const {
            return static_cast<unsigned>(word_ * 64) +
                   static_cast<unsigned>(std::countr_zero(left_));
        }
        Iterator& operator++() {
            left_ &= left_ - 1;
            find();
            return *this;
        }
        Iterator operator++(int) {
            const auto before = *this;
            ++*this;
            return before;
        }
        bool operator==(const Iterator& other) const {
            return word_ == other.word_ && left_ == other.left_;
        }

    private:
        void find() {
            while (left_ == 0 && word_ < of_->used_) {
                if (++word_ < of_->used_) left_ = of_->words_[word_];
            }
        }

        const PeerSet* of_;
        std::size_t word_;
        std::uint64_t left_ = 0;
    };
    using iterator = Iterator;
    using const_iterator = Iterator;

    PeerSet() = default;
    PeerSet(std::initializer_list<unsigned> peers) {
        for (const auto peer : peers) insert(peer);
    }

    void insert(unsigned peer) {
        assert(peer < kMaxPeers);
        insert_word(peer / 64, std::uint64_t{1} << (peer % 64));
    }
    /// Inserts peer 64 * index + i for each bit i.
    void insert_word(std::size_t index, std::uint64_t bits) {
        words_[index] |= bits;
        used_ = std::max(used_, index + 1);
    }
    bool contains(unsigned peer) const {
        return peer < kMaxPeers && (words_[peer / 64] >> (peer % 64) & 1) != 0;
    }

    bool empty() const {
        return std::all_of(words_.data(), words_.data() + used_,
                           [](auto word) { return word == 0; });
    }
    std::size_t size() const {
        std::size_t result = 0;
        for (std::size_t i = 0; i < used_; ++i) {
            result += static_cast<std::size_t>(std::popcount(words_[i]));
        }
        return result;
    }

    PeerSet& operator|=(const PeerSet& other) {
        for (std::size_t i = 0; i < other.used_; ++i) words_[i] |= other.words_[i];
        used_ = std::max(used_, other.used_);
        return *this;
    }
    PeerSet& operator&=(const PeerSet& other) {
        for (std::size_t i = 0; i < used_; ++i) words_[i] &= other.words_[i];
        return *this;
    }
    /// Removes the peers of `other`.
    PeerSet& operator-=(const PeerSet& other) {
        for (std::size_t i = 0; i < used_; ++i) words_[i] &= ~other.words_[i];
        return *this;
    }
    friend PeerSet operator|(PeerSet left, const PeerSet& right) { return left |= right; }
    friend PeerSet operator&(PeerSet left, const PeerSet& right) { return left &= right; }
    friend PeerSet operator-(PeerSet left, const PeerSet& right) { return left -= right; }
    bool operator==(const PeerSet& other) const { return words_ == other.words_; }

    Iterator begin() const { return {*this, 0}; }
    Iterator end() const { return {*this, used_}; }

private:
    std::array<std::uint64_t, kMaxPeers / 64> words_{};  // 0 from used_ on
    std::size_t used_ = 0;
};

}  // namespace summary
