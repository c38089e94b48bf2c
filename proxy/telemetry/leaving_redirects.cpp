#include "proxy/telemetry/leaving_redirects.hpp"

#include <algorithm>

#include "proxy/telemetry/bounded_names.hpp"

namespace proxy {
namespace {

constexpr std::size_t kMaxShownHostBytes = 255;

bool is_of_host(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view(".-_:[]").find(c) != std::string_view::npos;
}

}  // namespace

std::string leaving_text(const LeavingRedirect& redirect) {
    return "the origin of " + redirect.site + " redirects clients to " + redirect.host +
           " past the cache: " + std::to_string(redirect.last_hour) + " in the last hour";
}

std::string shown_host(std::string_view host) {
    std::string shown(host.substr(0, kMaxShownHostBytes));
    std::ranges::replace_if(
        shown, [](char c) { return !is_of_host(c); }, '?');
    return shown;
}

LeavingCounts& LeavingCounts::operator+=(const LeavingCounts& other) {
    for (const auto& more : other.last_hour) {
        const auto known = std::ranges::find_if(last_hour, [&](const LeavingRedirect& each) {
            return each.site == more.site && each.host == more.host;
        });
        if (known == last_hour.end())
            last_hour.push_back(more);
        else
            known->last_hour += more.last_hour;
    }
    std::ranges::stable_sort(last_hour, std::ranges::greater(), &LeavingRedirect::last_hour);
    for (const auto& [site, count] : other.total)
        entry_within(total, site, LeavingRedirects::kMaxSites, LeavingRedirects::kOthers) += count;
    return *this;
}

LeavingRedirects::Step LeavingRedirects::step_of(Time time) {
    return std::chrono::duration_cast<std::chrono::minutes>(time.time_since_epoch()).count() / 10;
}

LeavingRedirects::Pair& LeavingRedirects::pair_of(std::string_view site, std::string host) {
    const auto known = std::ranges::find_if(
        pairs_, [&](const Pair& pair) { return pair.site == site && pair.host == host; });
    if (known != pairs_.end()) return *known;
    if (pairs_.size() < kMaxPairs) return pairs_.emplace_back(std::string(site), std::move(host));
    auto& oldest = *std::ranges::min_element(pairs_, {}, &Pair::last);
    oldest = {std::string(site), std::move(host)};
    return oldest;
}

void LeavingRedirects::note(std::string_view site, std::string_view host, Time now) {
    auto& pair = pair_of(site, shown_host(host));
    pair.last = now;
    const auto step = step_of(now);
    auto& slot = pair.slots[static_cast<std::size_t>(step) % kSteps];
    if (slot.step != step) slot = {step, 0};
    ++slot.count;
    ++entry_within(total_, site, kMaxSites, kOthers);
}

LeavingCounts LeavingRedirects::counts(Time now) const {
    LeavingCounts all;
    all.total = total_;
    for (const auto& pair : pairs_) {
        LeavingRedirect redirect{pair.site, pair.host};
        for (const auto& slot : pair.slots)
            if (slot.step >= 0 && step_of(now) - slot.step < static_cast<Step>(kSteps))
                redirect.last_hour += slot.count;
        if (redirect.last_hour > 0) all.last_hour.push_back(std::move(redirect));
    }
    return all;
}

}  // namespace proxy
