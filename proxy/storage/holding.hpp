#pragma once

#include <cstdint>
#include <optional>

namespace proxy {

/// Where objects are stored. Each tier has a bit of a Holding.
enum class Tier : std::uint8_t { memory };

/// Which tiers hold something of one target URI, and whether others were told. They are told once
/// when it is first worth telling, be it wherever, and once when the last tier has dropped it:
/// moving between tiers is nobody's business. A value, guarded by whoever keeps it.
class Holding {
public:
    enum class News : std::uint8_t { stored, removed };
    /// What the listener is to hear of a change, if anything.
    using Told = std::optional<News>;

    /// `tier` has it. `announceable`: others may reuse what it has.
    Told holds(Tier tier, bool announceable) {
        tiers_ |= bit(tier);
        if (told_ || !announceable) return std::nullopt;
        told_ = true;
        return News::stored;
    }
    /// `tier` has nothing of it any more.
    Told drops(Tier tier) {
        tiers_ &= static_cast<std::uint8_t>(~bit(tier));
        if (!told_ || tiers_ != 0) return std::nullopt;
        told_ = false;
        return News::removed;
    }
    bool is_held_by(Tier tier) const { return (tiers_ & bit(tier)) != 0; }

private:
    static constexpr std::uint8_t bit(Tier tier) {
        return static_cast<std::uint8_t>(1u << static_cast<unsigned>(tier));
    }

    std::uint8_t tiers_ = 0;
    bool told_ = false;
};

}  // namespace proxy
