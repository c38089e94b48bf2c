#include "app/clock_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text/lasting.hpp"

namespace app {

std::vector<std::string> clock_words(const std::string& self, const std::vector<PeerClock>& peers) {
    const auto text = [](const std::string& wrong, double ahead, const std::string& than) {
        return fmt::format("the clock of {} is {} {} {}", wrong,
                           base::lasting(std::round(std::abs(ahead))),
                           ahead > 0 ? "ahead of" : "behind", than);
    };
    std::vector<std::string> words;
    if (peers.empty()) return words;
    const auto [least, most] = std::minmax_element(
        peers.begin(), peers.end(),
        [](const auto& a, const auto& b) { return a.ahead_seconds < b.ahead_seconds; });
    const auto all_alike = most->ahead_seconds - least->ahead_seconds <= kClocksApart;
    if (peers.size() > 1 && all_alike && std::abs(least->ahead_seconds) > kClocksApart)
        return {text(self, -least->ahead_seconds, "those of all its peers")};
    for (const auto& peer : peers)
        if (std::abs(peer.ahead_seconds) > kClocksApart)
            words.push_back(text(peer.node, peer.ahead_seconds, "that of " + self));
    return words;
}

}  // namespace app
