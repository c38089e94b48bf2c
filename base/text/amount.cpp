#include "base/text/amount.hpp"

namespace base {

std::string amount(std::uint64_t number, std::string_view noun, std::string_view plural) {
    auto text = std::to_string(number) + " ";
    if (number == 1) return text.append(noun);
    return plural.empty() ? text.append(noun).append("s") : text.append(plural);
}

}  // namespace base
