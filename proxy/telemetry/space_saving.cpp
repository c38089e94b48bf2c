#include "proxy/telemetry/space_saving.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace proxy {
namespace {

constexpr std::string_view kTextCutMark = "...";

bool is_more_frequent(const SpaceSaving::Entry& a, const SpaceSaving::Entry& b) {
    return a.count != b.count ? a.count > b.count : a.text < b.text;
}

void keep_most_frequent(std::vector<SpaceSaving::Entry>& all, std::size_t at_most) {
    const auto kept = std::min(all.size(), at_most);
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(),
                      is_more_frequent);
    all.resize(kept);
}

}  // namespace

SpaceSaving::SpaceSaving(std::size_t capacity) : capacity_(std::max<std::size_t>(capacity, 1)) {
    places_.reserve(capacity_);
    heap_.reserve(capacity_);
    by_text_.reserve(capacity_);
}

void SpaceSaving::note(std::string_view text, std::uint64_t times) {
    std::string cut;
    if (text.size() > kTextBytes) {
        cut.append(text.substr(0, kTextBytes - kTextCutMark.size())).append(kTextCutMark);
        text = cut;
    }
    if (const auto found = by_text_.find(text); found != by_text_.end()) {
        auto& place = places_[found->second];
        place.entry.count += times;
        sink(place.in_heap);
        return;
    }
    if (places_.size() < capacity_) {
        const auto index = places_.size();
        auto& place = places_.emplace_back();
        place.entry.text = text;
        place.entry.count = times;
        heap_.push_back(index);
        put(heap_.size() - 1, index);
        rise(heap_.size() - 1);
        by_text_.emplace(place.entry.text, index);
        return;
    }
    const auto index = heap_.front();
    auto& entry = places_[index].entry;
    by_text_.erase(std::string_view(entry.text));
    entry.text = text;
    entry.too_many = entry.count;
    entry.count += times;
    by_text_.emplace(entry.text, index);
    sink(0);
}

std::vector<SpaceSaving::Entry> SpaceSaving::top(std::size_t at_most) const {
    std::vector<Entry> all;
    all.reserve(places_.size());
    for (const auto& place : places_) all.push_back(place.entry);
    keep_most_frequent(all, at_most);
    return all;
}

void SpaceSaving::clear() {
    by_text_.clear();
    heap_.clear();
    places_.clear();
}

void SpaceSaving::put(std::size_t at, std::size_t place) {
    heap_[at] = place;
    places_[place].in_heap = at;
}

void SpaceSaving::sink(std::size_t at) {
    const auto place = heap_[at];
    const auto count = places_[place].entry.count;
    for (;;) {
        auto child = 2 * at + 1;
        if (child >= heap_.size()) break;
        if (child + 1 < heap_.size() && count_at(child + 1) < count_at(child)) ++child;
        if (count_at(child) >= count) break;
        put(at, heap_[child]);
        at = child;
    }
    put(at, place);
}

void SpaceSaving::rise(std::size_t at) {
    const auto place = heap_[at];
    const auto count = places_[place].entry.count;
    while (at > 0 && count_at((at - 1) / 2) > count) {
        put(at, heap_[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(at, place);
}

std::vector<SpaceSaving::Entry> merged(const std::vector<std::vector<SpaceSaving::Entry>>& tables,
                                       std::size_t at_most) {
    std::map<std::string_view, SpaceSaving::Entry> sums;
    for (const auto& table : tables) {
        for (const auto& entry : table) {
            auto& sum = sums[entry.text];
            if (sum.text.empty()) sum.text = entry.text;
            sum.count += entry.count;
            sum.too_many += entry.too_many;
        }
    }
    std::vector<SpaceSaving::Entry> all;
    all.reserve(sums.size());
    for (auto& [text, entry] : sums) all.push_back(std::move(entry));
    keep_most_frequent(all, at_most);
    return all;
}

}  // namespace proxy
