#include "base/net/name_table.hpp"

#include <algorithm>
#include <utility>

namespace base {

NameTable::KnownAddresses NameTable::Name::known() const {
    if (addresses.empty()) return make_error_code(error);
    return addresses;
}

bool NameTable::may_look_up(std::string_view client) const {
    if (in_flight_ >= kMaxNamesInFlight) return false;
    if (client.empty()) return true;
    if (clients_in_flight_ >= kMaxClientNamesInFlight) return false;
    const auto own = in_flight_of_.find(std::string(client));
    return own == in_flight_of_.end() || own->second < kMaxNamesInFlightPerClient;
}

NameTable::Decision NameTable::ask(const std::string& name, std::string_view client, Time now) {
    Decision decision;
    const auto found = names_.find(name);
    if (found != names_.end()) {
        auto& known = found->second;
        known.own = known.own || client.empty();
        if (!known.in_flight && now < known.fresh_until) {
            decision.answer = known.known();
            return decision;
        }
        if (known.may_be_stale(now)) {
            if (known.in_trouble)
                decision.answer = known.addresses;
            else
                decision.stale = known.addresses;
        }
        if (known.in_flight || (decision.answer && now < known.retry_at)) return decision;
    }
    if (!may_look_up(client)) {
        if (decision.stale) decision.answer = std::exchange(decision.stale, std::nullopt);
        if (!decision.answer) decision.answer = make_error_code(Error::resolver_busy);
        return decision;
    }
    if (found == names_.end() && names_.size() >= kMaxNamesKept) make_room(now);
    auto& asked = names_[name];
    asked.own = asked.own || client.empty();
    asked.in_flight = true;
    asked.client = client;
    ++in_flight_;
    if (!client.empty()) {
        ++clients_in_flight_;
        ++in_flight_of_[asked.client];
    }
    decision.look_up = true;
    return decision;
}

NameTable::KnownAddresses NameTable::answered(const std::string& name, NameAnswer answer,
                                              Time now) {
    auto& known = names_.at(name);
    known.in_flight = false;
    --in_flight_;
    if (!known.client.empty()) {
        --clients_in_flight_;
        const auto of = in_flight_of_.find(known.client);
        if (--of->second == 0) in_flight_of_.erase(of);
    }
    const auto keep = [&](std::chrono::nanoseconds how_long) {
        known.fresh_until = now + std::min(how_long, most_kept_);
    };
    known.in_trouble =
        answer.kind == NameAnswer::Kind::silence || answer.kind == NameAnswer::Kind::trouble;
    if (answer.kind == NameAnswer::Kind::found) {
        known.addresses = std::move(answer.addresses);
        keep(std::clamp<std::chrono::nanoseconds>(answer.ttl, kLeastKept, kMostKept));
        known.stale_until = known.fresh_until + kStaleKept;
        return known.known();
    }
    known.error =
        answer.kind == NameAnswer::Kind::silence ? Error::resolve_timeout : Error::resolve_failed;
    if (known.in_trouble && known.may_be_stale(now)) {
        known.retry_at = now + kStaleRetry;
        return known.known();
    }
    known.addresses.clear();
    keep(known.in_trouble ? kTroubleKept : kNoSuchNameKept);
    return known.known();
}

void NameTable::expire(Time now) {
    for (auto& [name, known] : names_) {
        known.fresh_until = std::min(known.fresh_until, now);
        known.retry_at = std::min(known.retry_at, now);
    }
}

/// Drops useless names first, then those that clients needed, then all that are not in flight.
void NameTable::make_room(Time now) {
    const auto drop = [this](auto of_no_use) {
        if (names_.size() < kMaxNamesKept) return;
        std::erase_if(names_, [&](const auto& entry) {
            return !entry.second.in_flight && of_no_use(entry.second);
        });
    };
    drop([now](const Name& name) { return name.fresh_until <= now && !name.may_be_stale(now); });
    drop([](const Name& name) { return !name.own; });
    drop([](const Name&) { return true; });
}

}  // namespace base
