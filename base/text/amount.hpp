#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace base {

/// A number with its noun: `1 request`, `2000 requests`. `plural`: of a noun that takes no `s`.
std::string amount(std::uint64_t number, std::string_view noun, std::string_view plural = {});

}  // namespace base
