#include "base/net/dial_plan.hpp"

#include <algorithm>

namespace base {
namespace {

/// Alternates the two families, beginning with that of the first address, and keeps the order
/// within a family.
Endpoints interleaved(const Endpoints& addresses) {
    Endpoints first, second, result;
    for (const auto& address : addresses) {
        const auto like_first = address.protocol() == addresses.front().protocol();
        (like_first ? first : second).push_back(address);
    }
    for (std::size_t i = 0; result.size() < addresses.size(); ++i) {
        if (i < first.size()) result.push_back(first[i]);
        if (i < second.size()) result.push_back(second[i]);
    }
    return result;
}

bool contains(const Endpoints& addresses, const Endpoints::value_type& address) {
    return std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}

}  // namespace

DialPlan::DialPlan(std::size_t addresses, Time now, Time deadline)
    : addresses_(addresses),
      pace_(std::clamp<std::chrono::nanoseconds>((deadline - now) / static_cast<int>(addresses + 1),
                                                 kLeastDialPace, kDialPace)),
      start_at_(now) {}

DialPlan::Time DialPlan::due() const {
    if (next_ == addresses_) return Time::max();
    if (attempts_.empty()) return Time::min();
    if (attempts_.size() < kMaxDialsAtOnce) return start_at_;
    return std::max(start_at_, attempts_.front().since + kPacesPerDial * pace_);
}

std::optional<DialPlan::Step> DialPlan::next(Time now) {
    if (next_ == addresses_ || now < due()) return std::nullopt;
    if (attempts_.size() == kMaxDialsAtOnce) {
        const auto oldest = attempts_.front().which;
        attempts_.erase(attempts_.begin());
        return Step{Step::What::give_up, oldest};
    }
    attempts_.push_back({next_, now});
    start_at_ = now + pace_;
    return Step{Step::What::start, next_++};
}

void DialPlan::failed(std::size_t which) {
    const auto is_it = [which](const Attempt& attempt) { return attempt.which == which; };
    if (std::erase_if(attempts_, is_it) > 0) start_at_ = Time::min();
}

Endpoints AddressMemory::order(const std::string& place, const Endpoints& addresses,
                               Time now) const {
    if (addresses.size() < 2) return addresses;
    auto result = interleaved(addresses);
    const auto known = places_.find(place);
    if (known == places_.end() || known->second.until <= now) return result;
    const auto& [good, bad, until] = known->second;
    std::stable_partition(result.begin(), result.end(),
                          [&bad = bad](const auto& address) { return !contains(bad, address); });
    if (good) {
        const auto found = std::find(result.begin(), result.end(), *good);
        if (found != result.end()) std::rotate(result.begin(), found, found + 1);
    }
    return result;
}

AddressMemory::Place& AddressMemory::at(const std::string& place, Time now) {
    if (!places_.contains(place) && places_.size() >= kMaxPlaces) {
        std::erase_if(places_, [now](const auto& entry) { return entry.second.until <= now; });
        if (places_.size() >= kMaxPlaces) places_.clear();
    }
    auto& known = places_[place];
    if (known.until <= now) known = {std::nullopt, {}, now + kKept};
    return known;
}

void AddressMemory::connected(const std::string& place, const Endpoint& address, Time now) {
    auto& known = at(place, now);
    known.good = address;
    std::erase(known.bad, address);
}

void AddressMemory::failed(const std::string& place, const Endpoint& address, Time now) {
    auto& known = at(place, now);
    if (known.good == address) known.good.reset();
    if (!contains(known.bad, address) && known.bad.size() < kMaxBad) known.bad.push_back(address);
}

}  // namespace base
