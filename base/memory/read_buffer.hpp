#pragma once

#include <boost/asio/buffer.hpp>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace base {

/// Received bytes that wait for their use, contiguous. prepare() makes room at the end: it moves
/// the bytes to the front, or grows. Callers consume their views first. One thread.
class ReadBuffer {
public:
    static constexpr std::size_t kInitialBytes = 4 * 1024;

    std::string_view data() const { return {bytes_.get() + begin_, end_ - begin_}; }
    std::size_t size() const { return end_ - begin_; }
    bool empty() const { return begin_ == end_; }

    void consume(std::size_t n) {
        begin_ += n;
        if (begin_ == end_) begin_ = end_ = 0;
    }
    void commit(std::size_t n) { end_ += n; }
    void clear() { begin_ = end_ = 0; }

    /// Free space at the end, at least `least` bytes and normally more. Invalidates views.
    boost::asio::mutable_buffer prepare(std::size_t least) {
        if (capacity_ - end_ < least) {
            const auto kept = size();
            auto wanted = capacity_ == 0 ? kInitialBytes : capacity_;
            while (wanted < kept + least) wanted *= 2;
            if (wanted != capacity_) {
                auto larger = std::make_unique_for_overwrite<char[]>(wanted);
                if (kept > 0) std::memcpy(larger.get(), bytes_.get() + begin_, kept);
                bytes_ = std::move(larger);
                capacity_ = wanted;
            } else if (kept > 0) {
                std::memmove(bytes_.get(), bytes_.get() + begin_, kept);
            }
            begin_ = 0;
            end_ = kept;
        }
        return {bytes_.get() + end_, capacity_ - end_};
    }

    /// Takes all bytes out, and frees a large buffer.
    std::string take_all() {
        std::string all(data());
        clear();
        trim();
        return all;
    }

    /// Frees a large, empty buffer. An idle connection keeps the initial size.
    void trim() {
        if (empty() && capacity_ > kInitialBytes) {
            bytes_.reset();
            capacity_ = begin_ = end_ = 0;
        }
    }

private:
    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

}  // namespace base
