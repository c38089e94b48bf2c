#pragma once

// The compiler includes this header before each source file (base/CMakeLists.txt), because a
// specialization has to stand before the first use of its template.

#include <array>
#include <boost/asio/detail/thread_info_base.hpp>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace base {

/// The memory of coroutine frames that have ended, for the next ones of the same thread. One list
/// for each size of kStep bytes takes the place of Asio's own search through all frames that it
/// keeps, which took 63 instructions for a frame of a stored miss and 22 for its end. Asio keeps no
/// frame above 1,020 bytes. A thread keeps kMost frames of one size, and frees all at its end. A
/// frame may end in another thread than it began in.
class FrameCache {
public:
    static constexpr std::size_t kStep = 64;   // bytes
    static constexpr std::size_t kSizes = 32;  // larger frames come from operator new
    static constexpr std::uint8_t kMost = 16;

    static void* allocate(std::size_t bytes) {
        const auto size = size_of(bytes);
        if (size >= kSizes) [[unlikely]]
            return ::operator new(bytes);
        auto*& first = first_[size];
        if (!first) return ::operator new((size + 1) * kStep);
        --count_[size];
        return std::exchange(first, first->next);
    }

    static void deallocate(void* frame, std::size_t bytes) noexcept {
        const auto size = size_of(bytes);
        if (size >= kSizes || count_[size] == kMost || !keeps()) [[unlikely]] {
            ::operator delete(frame);
            return;
        }
        first_[size] = ::new (frame) Kept{first_[size]};
        ++count_[size];
    }

private:
    struct Kept {
        Kept* next;
    };
    enum class State : std::uint8_t { fresh, keeps, ended };
    /// Frees what the thread keeps, at its end.
    struct AtThreadEnd {
        AtThreadEnd() = default;
        AtThreadEnd(const AtThreadEnd&) = delete;
        AtThreadEnd& operator=(const AtThreadEnd&) = delete;
        ~AtThreadEnd() {
            state_ = State::ended;
            for (auto*& first : first_)
                while (first) ::operator delete(std::exchange(first, first->next));
        }
    };

    static std::size_t size_of(std::size_t bytes) { return (bytes - 1) / kStep; }
    static bool keeps() noexcept {
        if (state_ == State::fresh) [[unlikely]] {
            static thread_local const AtThreadEnd at_thread_end;
            state_ = State::keeps;
        }
        return state_ == State::keeps;
    }

    // Without a destructor, so that a use is one access.
    static constinit inline thread_local std::array<Kept*, kSizes> first_{};
    static constinit inline thread_local std::array<std::uint8_t, kSizes> count_{};
    static constinit inline thread_local State state_ = State::fresh;
};

}  // namespace base

namespace boost::asio::detail {

template <>
inline void* thread_info_base::allocate(thread_info_base::awaitable_frame_tag, thread_info_base*,
                                        std::size_t size, std::size_t) {
    return base::FrameCache::allocate(size);
}

template <>
inline void thread_info_base::deallocate(thread_info_base::awaitable_frame_tag, thread_info_base*,
                                         void* pointer, std::size_t size) {
    base::FrameCache::deallocate(pointer, size);
}

}  // namespace boost::asio::detail
