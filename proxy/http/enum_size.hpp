#pragma once

#include <array>
#include <cstddef>

namespace proxy {

/// Number of values of an enum with a constexpr to_string(), which names 0, 1, 2 and so on, and
/// returns an empty text for the first number behind them. The switch of to_string() is the only
/// list of the values; the compiler reports a missing one.
template <class Enum>
inline constexpr std::size_t kEnumSize = [] {
    std::size_t size = 0;
    while (!to_string(static_cast<Enum>(size)).empty()) ++size;
    return size;
}();

/// All values of such an enum, in order.
template <class Enum>
inline constexpr auto kEachOf = [] {
    std::array<Enum, kEnumSize<Enum>> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Enum>(i);
    return all;
}();

}  // namespace proxy
