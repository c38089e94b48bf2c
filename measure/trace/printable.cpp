#include "measure/trace/printable.hpp"

#include <fmt/format.h>

#include <iterator>

namespace measure {

std::string printable(std::string_view text) {
    std::string out;
    for (const char each : text) {
        if (each >= ' ' && each <= '~')
            out += each;
        else
            fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(each));
    }
    return out;
}

}  // namespace measure
