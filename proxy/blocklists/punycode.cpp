#include "proxy/blocklists/punycode.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/text/utf8.hpp"

namespace proxy {
namespace {

// RFC 3492 §5
constexpr std::uint32_t kBase = 36, kTMin = 1, kTMax = 26, kSkew = 38, kDamp = 700;
constexpr std::uint32_t kInitialBias = 72, kInitialN = 128;
constexpr std::size_t kMaxLabel = 63;

std::uint32_t small_letter(std::uint32_t point) {
    if (point >= 'A' && point <= 'Z') return point + 32;
    if (point >= 0xc0 && point <= 0xde && point != 0xd7) return point + 32;     // Latin-1
    if (point >= 0x391 && point <= 0x3a9 && point != 0x3a2) return point + 32;  // Greek
    if (point >= 0x410 && point <= 0x42f) return point + 32;                    // Cyrillic
    if (point >= 0x400 && point <= 0x40f) return point + 80;
    return point;
}

/// False for bytes other than UTF-8.
bool decode(std::string_view text, std::vector<std::uint32_t>& points) {
    while (!text.empty()) {
        const auto first = static_cast<unsigned char>(text.front());
        std::size_t bytes = 1;
        std::uint32_t point = first;
        if (first >= 0x80) {
            bytes = base::utf8_character(text);
            if (bytes == 0) return false;
            point = first & (0x7fu >> bytes);
            for (std::size_t i = 1; i < bytes; ++i)
                point = point << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
        }
        points.push_back(small_letter(point));
        text.remove_prefix(bytes);
    }
    return true;
}

char digit(std::uint32_t value) {
    return static_cast<char>(value < 26 ? 'a' + value : '0' + (value - 26));
}

std::uint32_t adapted(std::uint32_t delta, std::uint32_t points, bool first) {
    delta = first ? delta / kDamp : delta / 2;
    delta += delta / points;
    std::uint32_t k = 0;
    for (; delta > (kBase - kTMin) * kTMax / 2; k += kBase) delta /= kBase - kTMin;
    return k + (kBase - kTMin + 1) * delta / (delta + kSkew);
}

/// `delta` as an integer of variable length.
void append_delta(std::string& out, std::uint32_t delta, std::uint32_t bias) {
    auto rest = delta;
    for (auto k = kBase;; k += kBase) {
        const auto threshold = k <= bias ? kTMin : std::min(k - bias, kTMax);
        if (rest < threshold) break;
        out.push_back(digit(threshold + (rest - threshold) % (kBase - threshold)));
        rest = (rest - threshold) / (kBase - threshold);
    }
    out.push_back(digit(rest));
}

}  // namespace

bool append_ascii_label(std::string& out, std::string_view label) {
    const auto begin = out.size();
    std::vector<std::uint32_t> points;
    // A label has 63 bytes in ASCII, and no character takes less than one of them.
    if (label.size() > 4 * kMaxLabel || !decode(label, points)) return false;
    const auto is_ascii = [](std::uint32_t point) { return point < 0x80; };
    auto handled = static_cast<std::uint32_t>(std::ranges::count_if(points, is_ascii));
    const auto plain = handled;
    if (plain < points.size()) out.append("xn--");
    for (const auto point : points)
        if (is_ascii(point)) out.push_back(static_cast<char>(point));
    if (plain < points.size() && plain > 0) out.push_back('-');
    auto n = kInitialN, bias = kInitialBias;
    std::uint32_t delta = 0;
    while (handled < points.size()) {
        auto next = std::numeric_limits<std::uint32_t>::max();
        for (const auto point : points)
            if (point >= n) next = std::min(next, point);
        delta += (next - n) * (handled + 1);  // at most 0x10ffff * 253: no overflow
        n = next;
        for (const auto point : points) {
            if (point < n) ++delta;
            if (point != n) continue;
            append_delta(out, delta, bias);
            bias = adapted(delta, handled + 1, handled == plain);
            delta = 0;
            ++handled;
        }
        ++delta;
        ++n;
    }
    return out.size() - begin <= kMaxLabel;
}

}  // namespace proxy
