#include "summary/directory/directory.hpp"

#include <algorithm>
#include <cassert>
#include <type_traits>
#include <utility>

#include "summary/coding/bloom_descriptor.hpp"
#include "summary/coding/fingerprint_descriptor.hpp"

namespace summary {

Directory::Kinds Directory::make_table(const Descriptor& of, std::size_t lanes) {
    switch (of.kind()) {
        case Kind::counting_bloom:
            break;
        case Kind::quotient:
            return QuotientTable(shape_from<QuotientShape>(of).value(), lanes);
        case Kind::cuckoo:
            return CuckooTable(shape_from<CuckooShape>(of).value(), lanes);
    }
    return BloomTable(shape_of(of).value(), lanes);
}

Directory::Table::Table(const Descriptor& sort, std::size_t wanted)
    : filters(make_table(sort, wanted)),
      lanes(std::visit([](const LaneTable auto& table) { return table.lanes(); }, filters)),
      sources(lanes.size()),
      of(sort) {}

Directory::Directory(std::span<const Member> members) : Directory(members, InSlices{}) {
    load_some(~std::uint64_t{0});
}

Directory::Directory(std::span<const Member> members, InSlices) {
    struct Sort {
        Descriptor of;
        std::size_t lanes = 0;
    };
    std::vector<Sort> sorts;
    std::vector<std::size_t> sort_of;  // of the members
    for (const auto& member : members) {
        assert(member.peer < kMaxPeers);
        const auto same = std::find_if(sorts.begin(), sorts.end(),
                                       [&](const Sort& sort) { return sort.of == member.of; });
        sort_of.push_back(static_cast<std::size_t>(same - sorts.begin()));
        if (same == sorts.end()) sorts.push_back({member.of});
        ++sorts[sort_of.back()].lanes;
    }
    tables_.reserve(sorts.size());
    for (std::size_t i = 0; i < sorts.size(); ++i) {
        tables_.emplace_back(sorts[i].of, sorts[i].lanes);
        to_load_.push_back({static_cast<std::uint16_t>(i), std::nullopt, nullptr, false, 0});
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
        assert(place(members[i].peer).table == kNowhere);
        take_lane(sort_of[i], members[i].peer, source(members[i]));
    }
}

LaneSource Directory::source(const Member& member) {
    if (member.keeper == nullptr) return {member.filter};
    assert(member.keeper->keeps_filter(member.peer) &&
           member.keeper->descriptor(member.peer) == member.of);
    const auto place = member.keeper->place(member.peer);
    return {nullptr, std::get_if<QuotientTable>(&member.keeper->tables_[place.table].filters),
            place.lane};
}

void Directory::take_lane(std::size_t index, unsigned peer, const LaneSource& source) {
    auto& table = tables_[index];
    const auto lane = table.lanes.take(peer);
    if (places_.size() <= peer) places_.resize(peer + 1);
    places_[peer] = {static_cast<std::uint16_t>(index), static_cast<std::uint16_t>(lane), false};
    table.sources[lane] = source;
    active_words_ = std::max<std::size_t>(active_words_, peer / 64 + 1);
}

bool Directory::adopt(unsigned peer, const Descriptor& of) {
    assert(peer < kMaxPeers);
    if (place(peer).table != kNowhere) return false;
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        if (tables_[i].of != of || tables_[i].lanes.full()) continue;
        take_lane(i, peer, {});
        places_[peer].blank = true;
        return true;
    }
    return false;
}

bool Directory::load_some(std::uint64_t words) {
    while (!to_load_.empty() && words > 0) {
        words -= std::min(words, load_slice(to_load_.front(), words));
    }
    return to_load_.empty();
}

/// Loads about `words` words of the job, and removes a finished job. Returns the words loaded.
std::uint64_t Directory::load_slice(LoadJob& job, std::uint64_t words) {
    auto& table = tables_[job.table];
    return std::visit(
        [&](LaneTable auto& filters) {
            const auto per_block = job.peer ? filters.lane_block_words() : filters.block_words();
            const auto size = std::min(std::max<std::uint64_t>(words / per_block, 1),
                                       filters.blocks() - job.next);
            if (!job.peer) {
                filters.load_all(table.sources, job.next, job.next + size);
            } else if (job.source != nullptr) {
                filters.load(place(*job.peer).lane, *job.source, job.next, job.next + size,
                             job.blank);
            }
            job.next += size;
            if (job.next == filters.blocks()) {
                finish(job);
                to_load_.pop_front();
            }
            return size * per_block;
        },
        table.filters);
}

void Directory::finish(const LoadJob& done) {
    auto& table = tables_[done.table];
    if (done.peer) {
        if (done.source != nullptr) activate(*done.peer);
        return;
    }
    for (std::size_t lane = 0; lane < table.lanes.used(); ++lane) {
        if (!table.sources[lane].empty()) activate(table.lanes.peer(lane));
    }
    std::fill(table.sources.begin(), table.sources.end(), LaneSource());
}

PeerSet Directory::candidates(const Key& key) const {
    const auto active = this->active();
    PeerSet found;
    for (const auto& table : tables_) {
        if (!table.lanes.any_counts()) continue;
        std::visit([&](const LaneTable auto& filters) { filters.find(key, table.lanes, found); },
                   table.filters);
    }
    return found &= active;
}

PeerSet Directory::active() const {
    PeerSet result;
    const auto words = active_words_.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < words; ++i) {
        result.insert_word(i, active_[i].load(std::memory_order_relaxed));
    }
    return result;
}

bool Directory::is_active(unsigned peer) const {
    return peer < kMaxPeers &&
           (active_[peer / 64].load(std::memory_order_relaxed) >> (peer % 64) & 1) != 0;
}

void Directory::activate(unsigned peer) {
    if (is_active(peer)) return;
    tables_[place(peer).table].lanes.one_counts();
    active_[peer / 64].fetch_or(std::uint64_t{1} << (peer % 64), std::memory_order_relaxed);
}

Descriptor Directory::descriptor(unsigned peer) const {
    const auto place = this->place(peer);
    return place.table == kNowhere ? Descriptor() : tables_[place.table].of;
}

/// Another filter begins in the peer's lane.
void Directory::begin(unsigned peer) {
    const auto place = this->place(peer);
    const bool may_count = std::visit(
        [&](LaneTable auto& filters) {
            filters.start(place.lane);
            return std::decay_t<decltype(filters)>::kMixes;
        },
        tables_[place.table].filters);
    if (!may_count) deactivate(peer);
}

void Directory::load(unsigned peer, const Filter& filter) {
    const auto place = this->place(peer);
    assert(place.table != kNowhere);
    begin(peer);
    const bool blank = std::exchange(places_[peer].blank, false);
    std::visit(
        [&](LaneTable auto& filters) {
            filters.load(place.lane, filter, 0, filters.blocks(), blank);
        },
        tables_[place.table].filters);
    activate(peer);
}

void Directory::begin_load(unsigned peer, const Filter& filter) {
    const auto place = this->place(peer);
    assert(place.table != kNowhere && descriptor_of(filter) == tables_[place.table].of);
    places_[peer].blank = false;
    begin(peer);
    std::erase_if(to_load_, [&](const LoadJob& job) { return job.peer == peer; });
    auto& source = tables_[place.table].sources[place.lane];
    const auto of_table = std::find_if(to_load_.begin(), to_load_.end(), [&](const LoadJob& job) {
        return job.table == place.table && !job.peer;
    });
    if (of_table != to_load_.end() && of_table->next == 0) {
        source = {&filter};
        return;
    }
    source = {};  // a part of the table was loaded with another filter
    to_load_.push_back({place.table, peer, &filter, place.blank, 0});
}

void Directory::apply(unsigned peer, const Change& change) {
    const auto place = this->place(peer);
    assert(place.table != kNowhere);
    std::visit([&](LaneTable auto& filters) { filters.apply(place.lane, change); },
               tables_[place.table].filters);
}

bool Directory::keeps_filter(unsigned peer) const {
    const auto place = this->place(peer);
    if (place.table == kNowhere) return false;
    const auto* const table = std::get_if<QuotientTable>(&tables_[place.table].filters);
    return table != nullptr && table->keeps_filter(place.lane);
}

std::optional<Change> Directory::apply_delta(unsigned peer, std::span<const std::byte> payload) {
    const auto place = this->place(peer);
    return std::get<QuotientTable>(tables_[place.table].filters).apply_delta(place.lane, payload);
}

std::uint64_t Directory::check_hash(unsigned peer) const {
    const auto place = this->place(peer);
    return std::get<QuotientTable>(tables_[place.table].filters).check_hash(place.lane);
}

void Directory::deactivate(unsigned peer) {
    if (!is_active(peer)) return;
    active_[peer / 64].fetch_and(~(std::uint64_t{1} << (peer % 64)), std::memory_order_relaxed);
    tables_[place(peer).table].lanes.one_counts_no_more();
}

void Directory::drop(unsigned peer) {
    deactivate(peer);
    forget(peer);
}

void Directory::forget(unsigned peer) {
    const auto place = this->place(peer);
    if (place.table == kNowhere) return;
    tables_[place.table].sources[place.lane] = {};
    std::erase_if(to_load_, [&](const LoadJob& job) { return job.peer == peer; });
}

std::uint64_t Directory::memory_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& table : tables_) {
        bytes += std::visit([](const LaneTable auto& filters) { return filters.memory_bytes(); },
                            table.filters);
    }
    return bytes;
}

bool Directory::release(std::uint64_t words) {
    if (tables_.empty()) return true;
    const bool done = std::visit([&](LaneTable auto& filters) { return filters.release(words); },
                                 tables_.back().filters);
    if (done) tables_.pop_back();
    return tables_.empty();
}

}  // namespace summary
