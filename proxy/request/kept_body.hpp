#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/memory/memory.hpp"

namespace proxy {

/// So much of a body is kept until its answer comes, if its connection may turn out to be closed.
/// That is more than goes out in a round trip, after which a closed connection shows.
inline constexpr std::size_t kKeptBodyBytes = 64 * 1024;

/// The beginning of a body, or all of it, as it went out. At most kKeptBodyBytes, charged to
/// limits.body_windows. One thread.
class KeptBody {
public:
    /// Keeps what add() gets from here on: `most` bytes, if there is room for them.
    void begin(base::MemoryBudget& windows, std::uint64_t most);
    /// The next bytes that go out.
    void add(std::string_view piece);
    /// Every byte that add() got is kept.
    bool has_all() const { return has_all_; }

    /// Prepares for collect(). False: there is no room.
    bool find_room(base::MemoryBudget& windows);
    /// The next bytes before anything goes out. False: there are more than kKeptBodyBytes.
    bool collect(std::string_view piece);
    /// All of the body was collected.
    void end_collecting() { use_ = Use::collected; }
    bool is_collected() const { return use_ == Use::collected; }

    std::uint64_t bytes() const { return bytes_.size(); }
    /// The bytes to send again. Those of a collected body stay.
    std::string take() { return is_collected() ? bytes_ : std::exchange(bytes_, {}); }
    /// Another server of the group may get a collected body, so that stays.
    void forget();

private:
    enum class Use : std::uint8_t { nothing, beginning, collected };

    std::string bytes_;
    base::Charge room_;
    Use use_ = Use::nothing;
    bool has_all_ = true;
};

}  // namespace proxy
