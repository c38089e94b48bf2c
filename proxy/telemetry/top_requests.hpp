#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/telemetry/space_saving.hpp"

namespace proxy {

/// The most frequent URLs and clients of one worker. It notes one request in kOneIn on average, at
/// random distances, and counts it kOneIn times; so counts are estimates, and a request costs one
/// subtraction. Each list takes up to kEntries * 384 bytes, 196 KB, from the first request that it
/// notes. One thread.
class TopRequests {
public:
    static constexpr std::uint32_t kOneIn = 16;
    static constexpr std::size_t kEntries = 512;
    static constexpr std::size_t kShown = 50;

    /// Whether this request is to be noted.
    bool is_turn() { return --left_ == 0; }
    /// Notes a request, if the settings want it. Call it when is_turn() returns true. `url`: the
    /// cache key. `client`: address. `settings`: null without an admin port.
    void note(const AdminConfig* settings, std::string_view url, std::string_view client);

    std::vector<SpaceSaving::Entry> urls() const;
    std::vector<SpaceSaving::Entry> clients() const;

private:
    std::uint32_t left_ = 1;  // requests until the next turn
    std::uint64_t random_ = 0x9e3779b97f4a7c15;
    std::optional<SpaceSaving> urls_, clients_;
};

}  // namespace proxy
