#include "summary/words.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace summary {

namespace {

constexpr std::size_t kMappedFrom = std::size_t{1} << 20;  // bytes
constexpr std::size_t kPageBytes = 4096;                   // or a multiple
constexpr std::size_t kReleaseUnit = std::size_t{2} << 20;

}  // namespace

Words::Words(std::size_t count) : size_(count) {
    if (count == 0) return;
    const auto bytes = count * sizeof(std::uint64_t);
    if (bytes < kMappedFrom) {
        data_ = static_cast<std::uint64_t*>(std::calloc(count, sizeof(std::uint64_t)));
        if (data_ == nullptr) throw std::bad_alloc();
        return;
    }
    auto* const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<std::uint64_t*>(memory);
    mapped_bytes_ = bytes;
}

Words::Words(const Words& other) : Words(other.size_) {
    std::copy(other.begin(), other.end(), data_);
}

void Words::touch(std::size_t from, std::size_t to) {
    constexpr auto kStep = kPageBytes / sizeof(std::uint64_t);
    for (auto i = from; i < std::min(to, size_); i += kStep) {
        auto* const word = static_cast<volatile std::uint64_t*>(data_ + i);
        *word = *word;
    }
}

bool Words::release(std::size_t count) {
    const auto bytes = (count * sizeof(std::uint64_t) / kReleaseUnit + 1) * kReleaseUnit;
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
    size_ = kept / sizeof(std::uint64_t);
    return false;
}

void Words::clear() {
    if (mapped_bytes_ != 0) {
        ::munmap(data_, mapped_bytes_);
    } else {
        std::free(data_);
    }
    data_ = nullptr;
    size_ = mapped_bytes_ = 0;
}

}  // namespace summary
