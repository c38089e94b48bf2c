#pragma once

#include <string>

namespace base {

/// A time in the largest unit of which there are two, rounded down: `45 s`, `12 m`, `3 h`, `8 d`.
/// Less than nothing is `0 s`.
std::string lasting(double seconds);

}  // namespace base
