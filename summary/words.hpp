#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace summary {

/// A fixed number of 64-bit words, all 0 at first. Large ones come from the system as pages that
/// take memory when they are first touched, so making one takes no time whatever its size, and
/// they can be given back piece by piece. One thread at a time, as a vector.
class Words {
public:
    Words() = default;
    /// Throws std::bad_alloc.
    explicit Words(std::size_t count);
    Words(const Words& other);
    Words(Words&& other) noexcept { swap(other); }
    Words& operator=(Words other) noexcept {
        swap(other);
        return *this;
    }
    ~Words() { clear(); }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    std::uint64_t* data() { return data_; }
    const std::uint64_t* data() const { return data_; }
    std::uint64_t& operator[](std::size_t i) { return data_[i]; }
    const std::uint64_t& operator[](std::size_t i) const { return data_[i]; }
    const std::uint64_t* begin() const { return data_; }
    const std::uint64_t* end() const { return data_ + size_; }
    operator std::span<const std::uint64_t>() const { return {data_, size_}; }

    bool operator==(const Words& other) const {
        return std::equal(begin(), end(), other.begin(), other.end());
    }

    /// Takes the memory for words [from, to) now; what they hold stays.
    void touch(std::size_t from, std::size_t to);
    /// Gives back about so many words at the end; true when none are left.
    bool release(std::size_t count);

private:
    void swap(Words& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(mapped_bytes_, other.mapped_bytes_);
    }
    void clear();

    std::uint64_t* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t mapped_bytes_ = 0;  // 0: from the heap
};

}  // namespace summary
