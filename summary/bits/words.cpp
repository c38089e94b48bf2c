#include "summary/bits/words.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace summary {

namespace {

constexpr std::size_t kMappedFrom = std::size_t{1} << 20;  // bytes
constexpr std::size_t kPageBytes = 4096;                   // or a multiple
constexpr std::size_t kReleaseUnit = std::size_t{2} << 20;

}  // namespace

template <class Word>
WordsOf<Word>::WordsOf(std::size_t count) : size_(count) {
    if (count == 0) return;
    const auto bytes = count * sizeof(Word);
    if (bytes < kMappedFrom) {
        data_ = static_cast<Word*>(std::calloc(count, sizeof(Word)));
        if (data_ == nullptr) throw std::bad_alloc();
        return;
    }
    auto* const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    // Scattered reads then miss the processor's table of pages less often.
    ::madvise(memory, bytes, MADV_HUGEPAGE);
    data_ = static_cast<Word*>(memory);
    mapped_bytes_ = bytes;
}

template <class Word>
WordsOf<Word>::WordsOf(const WordsOf& other) : WordsOf(other.size_) {
    std::copy(other.begin(), other.end(), data_);
}

template <class Word>
void WordsOf<Word>::touch(std::size_t from, std::size_t to) {
    constexpr auto kStep = kPageBytes / sizeof(Word);
    for (auto i = from; i < std::min(to, size_); i += kStep) {
        auto* const word = static_cast<volatile Word*>(data_ + i);
        *word = *word;
    }
}

template <class Word>
bool WordsOf<Word>::release(std::size_t count) {
    const auto bytes = (count * sizeof(Word) / kReleaseUnit + 1) * kReleaseUnit;
    if (mapped_bytes_ <= bytes) {
        clear();
        return true;
    }
    const auto kept = (mapped_bytes_ - bytes) / kReleaseUnit * kReleaseUnit;
    if (kept == 0) {
        clear();
        return true;
    }
    ::munmap(reinterpret_cast<std::byte*>(data_) + kept, mapped_bytes_ - kept);
    mapped_bytes_ = kept;
    size_ = kept / sizeof(Word);
    return false;
}

template <class Word>
void WordsOf<Word>::clear() {
    if (mapped_bytes_ != 0) {
        ::munmap(data_, mapped_bytes_);
    } else {
        std::free(data_);
    }
    data_ = nullptr;
    size_ = mapped_bytes_ = 0;
}

template class WordsOf<std::uint64_t>;
template class WordsOf<std::uint32_t>;
template class WordsOf<std::uint8_t>;

}  // namespace summary
