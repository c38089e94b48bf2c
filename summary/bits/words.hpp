#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace summary {

/// A fixed number of integers, all 0 at first. Large arrays come from the system as pages that take
/// memory on first use. So construction takes the same time at any size, and memory can be given
/// back piece by piece. One thread at a time, as for a vector.
template <class Word>
class WordsOf {
public:
    WordsOf() = default;
    /// Throws std::bad_alloc.
    explicit WordsOf(std::size_t count);
    WordsOf(const WordsOf& other);
    WordsOf(WordsOf&& other) noexcept { swap(other); }
    WordsOf& operator=(WordsOf other) noexcept {
        swap(other);
        return *this;
    }
    ~WordsOf() { clear(); }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    Word* data() { return data_; }
    const Word* data() const { return data_; }
    Word& operator[](std::size_t i) { return data_[i]; }
    const Word& operator[](std::size_t i) const { return data_[i]; }
    const Word* begin() const { return data_; }
    const Word* end() const { return data_ + size_; }
    operator std::span<const Word>() const { return {data_, size_}; }

    bool operator==(const WordsOf& other) const {
        return std::equal(begin(), end(), other.begin(), other.end());
    }

    /// Takes the memory for words [from, to) now, and keeps their values.
    void touch(std::size_t from, std::size_t to);
    /// Gives back about `count` words at the end. Returns true when the array is empty.
    bool release(std::size_t count);

private:
    void swap(WordsOf& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(mapped_bytes_, other.mapped_bytes_);
    }
    void clear();

    Word* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t mapped_bytes_ = 0;  // 0: from the heap
};

using Words = WordsOf<std::uint64_t>;
using HalfWords = WordsOf<std::uint32_t>;
using Octets = WordsOf<std::uint8_t>;
extern template class WordsOf<std::uint64_t>;
extern template class WordsOf<std::uint32_t>;
extern template class WordsOf<std::uint8_t>;

}  // namespace summary
