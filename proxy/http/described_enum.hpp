#pragma once

#include <array>
#include <boost/describe/enum.hpp>
#include <boost/describe/enumerators.hpp>
#include <cstddef>
#include <string_view>

namespace proxy {

// The values and words of an enum that Boost.Describe defines, such as
// BOOST_DEFINE_FIXED_ENUM_CLASS(Role, std::uint8_t, client, peer). They count from 0, and each is
// shown as it is spelled. A word that C++ reserves ends with `_` as an enumerator.

template <class Enum>
concept DescribedEnum = boost::describe::has_describe_enumerators<Enum>::value;

template <DescribedEnum Enum>
struct EnumValues {
    template <template <class...> class List, class... Each>
    static constexpr std::array<Enum, sizeof...(Each)> values(List<Each...>) {
        return {Each::value...};
    }
    template <template <class...> class List, class... Each>
    static constexpr std::array<std::string_view, sizeof...(Each)> words(List<Each...>) {
        return {without_mark(Each::name)...};
    }
    static constexpr std::string_view without_mark(std::string_view name) {
        return name.substr(0, name.size() - (name.back() == '_' ? 1 : 0));
    }
};

/// All values, in order.
template <DescribedEnum Enum>
inline constexpr auto kEachOf =
    EnumValues<Enum>::values(boost::describe::describe_enumerators<Enum>());

template <DescribedEnum Enum>
inline constexpr std::size_t kEnumSize = kEachOf<Enum>.size();

/// The word of each value.
template <DescribedEnum Enum>
inline constexpr auto kWordsOf =
    EnumValues<Enum>::words(boost::describe::describe_enumerators<Enum>());

/// `?` for a number without a value.
template <DescribedEnum Enum>
constexpr std::string_view to_string(Enum value) {
    static_assert(static_cast<std::size_t>(kEachOf<Enum>.back()) + 1 == kEnumSize<Enum>);
    const auto number = static_cast<std::size_t>(value);
    return number < kEnumSize<Enum> ? kWordsOf<Enum>[number] : std::string_view("?");
}

}  // namespace proxy
