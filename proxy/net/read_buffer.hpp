#pragma once

#include <boost/asio/buffer.hpp>
#include <cstring>
#include <memory>
#include <string_view>

namespace proxy {

/// Bytes received and not yet used, contiguous. Room is made at the end by moving what is left to
/// the front or by growing, never while views into it are held (callers consume first).
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
            const auto held = size();
            auto wanted = capacity_ == 0 ? kInitialBytes : capacity_;
            while (wanted < held + least) wanted *= 2;
            if (wanted != capacity_) {
                auto larger = std::make_unique_for_overwrite<char[]>(wanted);
                if (held > 0) std::memcpy(larger.get(), bytes_.get() + begin_, held);
                bytes_ = std::move(larger);
                capacity_ = wanted;
            } else if (held > 0) {
                std::memmove(bytes_.get(), bytes_.get() + begin_, held);
            }
            begin_ = 0;
            end_ = held;
        }
        return {bytes_.get() + end_, capacity_ - end_};
    }

    /// Gives a large, empty buffer back (an idle connection keeps only the initial size).
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

}  // namespace proxy
