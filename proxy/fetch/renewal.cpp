#include "proxy/fetch/renewal.hpp"

#include <xxhash.h>

#include <array>
#include <string>
#include <utility>

#include "base/async/sleep.hpp"
#include "proxy/http/field_block.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/freshness.hpp"
#include "proxy/http/wall_clock.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::seconds;

/// Fields that a renewal brings, and those that tell of the way of a copy.
bool is_of_version(const Field& line) {
    switch (line.id) {
        case field::date:
        case field::expires:
        case field::age:
        case field::via:
            return false;
        default:
            return !iequals(line.name, "Cache-Status");
    }
}

std::uint64_t hash_of(std::string_view text) {
    return XXH3_64bits(text.data(), text.size());
}

/// Two nodes compute the same for what the origin sent once, in whatever order the fields stand
/// after a 304. Never 0.
std::uint64_t renewal_version(const StoredResponse& response, std::uint64_t length) {
    auto sum = hash_of(std::to_string(response.status) + ' ' + std::to_string(length));
    std::string text;
    for (const auto& line : FieldBlock(response.head_fields)) {
        if (!is_of_version(line)) continue;
        text.assign(line.name).append(":").append(line.value);
        sum += hash_of(text);
    }
    return std::max<std::uint64_t>(sum, 1);
}

/// The time in a field; 0: there is none. Nothing: the field cannot be read.
std::optional<std::uint64_t> time_in(const Field* line, WallTime now) {
    if (!line) return 0;
    const auto time = parse_http_date(line->value, now);
    if (!time || time->time_since_epoch() <= Seconds(0)) return std::nullopt;
    return static_cast<std::uint64_t>(time->time_since_epoch().count());
}

std::string date_text(std::uint64_t since_1970) {
    std::string text;
    append_http_date(text, WallTime(Seconds(static_cast<std::int64_t>(since_1970))));
    return text;
}

/// What is for one client, or needs the origin's word each time, is renewed by nobody else, nor is
/// a variant: the version does not tell variants apart.
bool may_be_renewed(const StoredResponse& response) {
    const auto& freshness = response.freshness;
    return response.vary_names.empty() && freshness.has_validator && !freshness.personal &&
           !freshness.each_client && freshness.serves_others();
}

}  // namespace

std::optional<protocol::Renewal> renewal_of(summary::KeyHash key, const StoredResponse& response,
                                            const std::optional<std::uint64_t>& length,
                                            Clock::time_point now) {
    constexpr Seconds kOldest{1'000'000};
    const auto residence = response.residence(now);
    const auto age = current_age(response.freshness, residence);
    if (age > kOldest || !is_fresh(response.freshness, residence)) return std::nullopt;
    protocol::Renewal told;
    told.key = key;
    told.age_ms = static_cast<std::uint32_t>(age.count() * 1000);
    if (!length || !may_be_renewed(response)) return told;
    std::array<Field, 2> found;
    const Field *date = nullptr, *expires = nullptr;
    for (const auto& line : FieldBlock(response.head_fields)) {
        if (line.id == field::date) date = &(found[0] = line);
        if (line.id == field::expires) expires = &(found[1] = line);
    }
    const auto made = time_in(date, wall_now()), ends = time_in(expires, wall_now());
    if (!made || !ends) return told;
    told.version = renewal_version(response, *length);
    told.date = *made;
    told.expires = *ends;
    return told;
}

bool has_survived_invalidation(const Store& store, summary::KeyHash hash, std::string_view uri,
                               const StoredResponse& stored) {
    const auto invalidated = store.invalidated_at(hash, uri, stored.tags);
    return invalidated && *invalidated >= stored.arrival.steady - base::slept();
}

std::optional<KnownRenewals::Known> news_of(SharedCache& cache, summary::KeyHash hash,
                                            std::string_view uri, const StoredResponse& stored,
                                            Clock::time_point now) {
    auto known = cache.cooperation.renewals.of(hash);
    if (!known) return std::nullopt;
    known->confirmed -= base::slept();
    const auto own = now - current_age(stored.freshness, stored.residence(now));
    if (!is_news(*known, own)) return std::nullopt;
    // The message may have been on its way while the order came.
    if (has_survived_invalidation(cache.store, hash, uri, stored)) return std::nullopt;
    return known;
}

std::optional<KnownRenewals::Known> confirmation_of(SharedCache& cache, summary::KeyHash hash,
                                                    std::string_view uri,
                                                    const StoredResponse& stored,
                                                    Clock::time_point now) {
    if (!may_be_renewed(stored)) return std::nullopt;
    auto known = news_of(cache, hash, uri, stored, now);
    if (known && known->what.version != renewal_version(stored, stored.body_bytes())) known.reset();
    return known;
}

bool take_renewal(SharedCache& cache, const StoringRequest& storing, summary::KeyHash hash,
                  const StoredResponse& stored, const KnownRenewals::Known& confirmation,
                  Clock::time_point now) {
    const auto& [what, node, confirmed] = confirmation;
    const auto uri = storing.request.key.uri();
    const auto date = date_text(what.date), expires = date_text(what.expires);
    const auto age = std::to_string(std::chrono::ceil<Seconds>(now - confirmed).count());
    Head head;
    head.status = 304;
    if (what.date != 0) head.fields.push_back({field::date, "Date", date});
    if (what.expires != 0) head.fields.push_back({field::expires, "Expires", expires});
    head.fields.push_back({field::age, "Age", age});
    ReceivedHead from{head, wall_now(), {now, wall_now()}};
    from.from_peer = true;
    auto fresh = refreshed(storing, stored, stored.fields(), from);
    auto& made = fresh.candidate;
    return !fresh.too_large && made.verdict == StorageVerdict::store &&
           charge(cache.store, *made.response, uri, now) &&
           cache.store.replace(hash, &stored, std::move(made.response), confirmed, now) ==
               Store::Replaced::done;
}

}  // namespace proxy
