#include "proxy/storage/fill_leases.hpp"

#include <algorithm>
#include <utility>

#include "proxy/storage/announceable.hpp"

namespace proxy {
namespace {

/// Arrivals count in whole seconds of age, so a response that seems this much older may have come
/// just now.
constexpr std::chrono::seconds kPartOfASecond{1};

}  // namespace

FillLeases::LeaseResult FillLeases::take(summary::KeyHash key, std::string_view uri,
                                         const FoundResponse& seen,
                                         const std::shared_ptr<Fill>& fill,
                                         const SelectingFields& request) {
    if (!fill) return {true, nullptr};
    auto& in = shards_.of(key);
    const std::lock_guard lock(in.mutex);
    auto* const entry = in.memory.find(key);
    if (entry && entry->uri != uri) return {true, nullptr};  // publish() will refuse it
    const auto& stored = newest_of(entry);
    if (!in.pending.empty())
        if (auto other = in.pending.find(key, uri, request, stored, seen.at))
            return {false, std::move(other)};
    if (entry) {
        const auto same = seen.response
                              ? std::ranges::any_of(entry->variants,
                                                    [&](const auto& variant) {
                                                        return variant.response == seen.response;
                                                    })
                              : seen.other_variants;
        if (!same) return {false, nullptr};
        // A look-up that found other variants may have missed one that was stored since.
        const auto* const selected = seen.response ? nullptr : in.memory.select(*entry, request);
        if (selected &&
            selected->response->arrival.steady + kPartOfASecond > seen.at + base::slept())
            return {false, nullptr};
    }
    in.pending.add(key, uri, fill, request, stored);
    return {true, nullptr};
}

bool FillLeases::tag(summary::KeyHash key, const Fill* fill, std::uint64_t invalidations,
                     std::span<const summary::KeyHash> tags) {
    auto& in = shards_.of(key);
    const std::lock_guard lock(in.mutex);
    if (invalidated_.any_noted_since(tags, invalidations)) return false;
    in.pending.tag(key, fill, tags);
    return true;
}

bool FillLeases::publish(summary::KeyHash key, std::string_view uri, const Fill* fill,
                         std::uint64_t invalidations,
                         std::shared_ptr<const StoredResponse> response,
                         const SelectingFields& request, Clock::time_point now) {
    DroppedResponses dropped;  // these two are destroyed after the lock is released
    std::shared_ptr<Fill> ended;
    auto& in = shards_.of(key);
    const std::lock_guard lock(in.mutex);
    ended = in.pending.end(key, fill);
    auto* const entry = in.memory.entry_for(key, uri);
    if (!entry) return false;
    const auto is_new = entry->variants.empty();
    const auto lost = in.disk.has_lost_body(key, *response);
    if (lost || invalidated_.noted_since(key, invalidations) ||
        invalidated_.prefix_noted_since(uri, invalidations) ||
        invalidated_.any_noted_since(response->tags, invalidations)) {
        // The next request must not validate a lost body once more.
        const auto has_lost = [&](const auto& one) { return one.response->body == response->body; };
        if (is_new)
            in.memory.erase(*entry);
        else if (lost)
            in.drop_if(ledger_, *entry, has_lost, dropped);
        return false;
    }
    if (is_new) AnnouncementLedger::memory_begins(key, entry->announced, in.disk.index);
    const auto before = make_place(in, *entry, *response, request, dropped);
    entry->variants.emplace_back(std::move(response)).uses = before.uses;
    settle(in, *entry, now);
    if (disk_.tier()) to_disk(in, *entry, before);
    if (fill && fill->is_read_slowly()) in.memory.pin(*entry);
    in.pending.refute_unshareable(key, request, *newest_of(entry));
    return true;
}

FillLeases::Predecessors FillLeases::make_place(StoreShard& in, MemoryShelf::Entry& entry,
                                                const StoredResponse& response,
                                                const SelectingFields& request,
                                                DroppedResponses& out) {
    Predecessors before;
    std::string scratch;
    VariantMatcher selects(request, scratch);
    entry.erase_if([&](const MemoryShelf::Variant& old) {
        // A server may name other fields in Vary for other requests (RFC 9111 §4.1).
        if (!is_same_variant(*old.response, response) &&
            !(old.response->vary_names != response.vary_names &&
              selects(old.response->vary_names, old.response->variant)))
            return false;
        before.uses = std::max(before.uses, old.uses);
        if (old.response->body == response.body) {
            before.validated = old;
        } else {
            before.on_disk = before.on_disk || old.disk.writing || old.disk.is_stored();
            in.disk.erase_record(entry.hash, old.disk);
        }
        out.push_back(old.response);
        return true;
    });
    while (entry.variants.size() >= memory_.max_variants())
        if (displace_one(in, entry, out) && before.validated) before.validated->disk = {};
    return before;
}

bool FillLeases::displace_one(StoreShard& in, MemoryShelf::Entry& entry, DroppedResponses& out) {
    const auto least = MemoryShelf::next_to_displace(entry);
    if (!least) writer_.bury(in, entry);
    const auto goes = entry.variants.begin() + static_cast<std::ptrdiff_t>(least.value_or(0));
    out.push_back(std::move(goes->response));
    entry.variants.erase(goes);
    return !least;
}

/// Writes the newest variant, or leaves it the record of its predecessor.
void FillLeases::to_disk(StoreShard& in, MemoryShelf::Entry& entry, const Predecessors& before) {
    auto& variant = entry.variants.back();
    const auto& validated = before.validated;
    const auto& in_place = variant.response->body->on_disk();
    // A validated response is the same version, so all records of the key stay good.
    auto supersedes = before.on_disk;
    if (!validated && !in_place) supersedes = writer_.supersede(in, entry) || supersedes;
    const auto has_record = validated && (validated->disk.is_stored() || validated->disk.writing);
    if (has_record && !supersedes) return writer_.renew(in, entry, *validated, variant);
    if (validated)
        in.disk.erase_record(entry.hash, validated->disk);
    else if (in_place)
        in.disk.index.erase(entry.hash, in_place->place());
    variant.disk.supersedes = supersedes || has_record || in_place;
    writer_.admit(in, entry, variant);
}

FillLeases::Replaced FillLeases::replace(summary::KeyHash key, const StoredResponse* old,
                                         std::shared_ptr<const StoredResponse> response,
                                         Clock::time_point asked, Clock::time_point now) {
    std::optional<MemoryShelf::Variant> dropped;  // destroyed after the lock is released
    auto& in = shards_.of(key);
    const std::lock_guard lock(in.mutex);
    auto* const entry = in.memory.find(key);
    if (!entry) return Replaced::gone;
    auto& variants = entry->variants;
    const auto place = std::ranges::find_if(
        variants, [old](const auto& variant) { return variant.response.get() == old; });
    if (place == variants.end()) return Replaced::gone;
    const auto ended =
        std::max(invalidated_.last(key, response->tags), invalidated_.last_prefix(entry->uri));
    if (ended >= asked) return Replaced::invalidated;
    dropped = std::move(*place);
    variants.erase(place);
    auto& renewed = variants.emplace_back(std::move(response));
    renewed.uses = dropped->uses;
    settle(in, *entry, now);
    if (disk_.tier()) writer_.renew(in, *entry, *dropped, renewed);
    return Replaced::done;
}

void FillLeases::settle(StoreShard& in, MemoryShelf::Entry& entry, Clock::time_point now) {
    if (is_announceable(*entry.variants.back().response, now))
        ledger_.announce(entry.hash, entry.announced);
    in.memory.weigh(entry);
}

void FillLeases::abandon(summary::KeyHash key, const Fill* fill, std::chrono::seconds unshareable,
                         const SelectingFields& request, Clock::time_point now) {
    std::shared_ptr<Fill> ended;  // destroyed after the lock is released
    auto& in = shards_.of(key);
    const std::lock_guard lock(in.mutex);
    ended = in.pending.end(key, fill);
    // Classes follow from the responses that other requests know; this one was not for them.
    if (unshareable > std::chrono::seconds(0))
        in.pending.note_unshareable(key, request, newest_of(in.memory.find(key)), unshareable, now);
}

void FillLeases::refute_unshareable(summary::KeyHash key, const SelectingFields& request,
                                    const StoredResponse& response) {
    auto& in = shards_.of(key);
    const std::lock_guard lock(in.mutex);
    in.pending.refute_unshareable(key, request, response);
}

}  // namespace proxy
