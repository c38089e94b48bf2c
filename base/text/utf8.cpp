#include "base/text/utf8.hpp"

namespace base {

std::size_t utf8_character(std::string_view text) {
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto lead = at(0);
    const std::size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (length == 0 || lead > 0xf4 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((at(i) & 0xc0) != 0x80) return 0;
    const auto second = at(1);
    const bool refused = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
                         (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
    return refused ? 0 : length;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const auto ascii = static_cast<unsigned char>(text.front()) < 0x80;
        const auto length = ascii ? std::size_t{1} : utf8_character(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

}  // namespace base
