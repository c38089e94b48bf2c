#include "proxy/storage/memory_shelf.hpp"

#include "proxy/http/vary.hpp"
#include "proxy/storage/variant_choice.hpp"

namespace proxy {

MemoryShelf::Entry* MemoryShelf::entry_for(summary::KeyHash hash, std::string_view uri) {
    auto& slot = entries_[hash];
    if (!slot) {
        slot = std::make_unique<Entry>();
        slot->hash = hash;
        slot->uri = uri;
    }
    return slot->uri == uri ? slot.get() : nullptr;
}

MemoryShelf::Variant* MemoryShelf::select(Entry& entry, const SelectingFields& request) {
    VariantMatcher matches(request, scratch_);
    for (auto variant = entry.variants.rbegin(); variant != entry.variants.rend(); ++variant) {
        const auto& response = *variant->response;
        if (response.vary_names.empty() || matches(response.vary_names, response.variant))
            return &*variant;
    }
    return nullptr;
}

std::optional<std::size_t> MemoryShelf::next_to_displace(Entry& entry) {
    std::vector<VariantUse> uses;
    uses.reserve(entry.variants.size());
    for (auto& variant : entry.variants)
        uses.push_back({&variant.uses, variant.disk.writing != nullptr});
    return variant_to_go(uses, entry.hash.low, entry.displaced++);
}

void MemoryShelf::weigh(Entry& entry) {
    std::vector<summary::KeyHash> tags;
    std::uint64_t bytes = 0;
    auto sender = SentBy::peer;
    for (const auto& variant : entry.variants) {
        const auto& response = *variant.response;
        tags.insert(tags.end(), response.tags.begin(), response.tags.end());
        bytes += response.charge.bytes() + response.body->memory_bytes();
        if (!response.from_peer) sender = SentBy::origin;
    }
    tagged_.set(entry.hash, entry.tags, std::move(tags));
    queue_.insert(entry, bytes, sender);
}

void MemoryShelf::erase(Entry& entry) {
    tagged_.set(entry.hash, entry.tags, {});
    queue_.remove(entry);
    entries_.erase(entry.hash);
}

MemoryShelf::Entries MemoryShelf::take_all() {
    for (auto& [hash, entry] : entries_) queue_.remove(*entry);
    tagged_.clear();
    return std::exchange(entries_, {});
}

void MemoryShelf::leave() {
    static auto& left = *new std::vector<Entries>;  // never destroyed
    left.push_back(std::exchange(entries_, {}));
}

MemoryShelf::Entry* MemoryShelf::first_tagged(summary::KeyHash tag) {
    const auto key = tagged_.first(tag);
    return key ? find(*key) : nullptr;
}

/// A response that a 304 renewed shares its body with the response before it.
bool MemoryShelf::in_use(const Entry& entry) {
    return std::ranges::any_of(entry.variants, [](const Variant& variant) {
        return variant.response.use_count() > 1 || variant.response->body.use_count() > 1;
    });
}

}  // namespace proxy
