#include "base/text/json_string.hpp"

#include "base/text/utf8.hpp"

namespace base {
namespace {

void append_hex_byte(std::string& out, unsigned char byte) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
    out.push_back('"');
    while (!text.empty()) {
        const char c = text.front();
        const auto byte = static_cast<unsigned char>(c);
        std::size_t taken = 1;
        if (c == '"' || c == '\\') {
            out.push_back('\\');
            out.push_back(c);
        } else if (c >= ' ' && c < '\x7f') {
            out.push_back(c);
        } else if (byte < 0x80) {
            out.append("\\u00");
            append_hex_byte(out, byte);
        } else {
            const auto character = text.substr(0, utf8_character(text));
            if (character.empty() || character.starts_with("\xee\xbe") ||
                character.starts_with("\xee\xbf")) {
                out.append("\\uef");
                append_hex_byte(out, byte);
            } else if (byte == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0) {
                out.append("\\u00");  // the other control characters
                append_hex_byte(out, static_cast<unsigned char>(text[1]));
                taken = 2;
            } else {
                out.append(character);
                taken = character.size();
            }
        }
        text.remove_prefix(taken);
    }
    out.push_back('"');
}

}  // namespace base
