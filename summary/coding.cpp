#include "summary/coding.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "summary/rice.hpp"

namespace summary {

namespace {

using Input = std::span<const std::byte>;

void append_coding(Coding coding, Bytes& out) {
    out.push_back(static_cast<std::byte>(coding));
}

bool take_coding(Coding coding, Input& input) {
    if (input.empty() || input.front() != static_cast<std::byte>(coding)) return false;
    input = input.subspan(1);
    return true;
}

/// `for_each(visit)` must call visit(position) for `count` ascending positions below `universe`.
template <class ForEach>
void append_positions(std::uint64_t count, std::uint64_t universe, ForEach for_each, Bytes& out) {
    append_varint(count, out);
    if (count == 0) return;
    const auto parameter = rice_parameter(count, universe);
    out.push_back(static_cast<std::byte>(parameter));
    RiceWriter writer(parameter, out);
    for_each([&](std::uint64_t position) { writer.append(position); });
    writer.finish();
}

void append_list(const std::vector<std::uint64_t>& list, std::uint64_t universe, Bytes& out) {
    append_positions(
        list.size(), universe, [&](auto visit) { std::for_each(list.begin(), list.end(), visit); },
        out);
}

/// Takes one list off the front of `input`: first reserve(count), then visit(position) for each.
template <class Reserve, class Visit>
bool take_positions(Input& input, std::uint64_t universe, Reserve reserve, Visit visit) {
    const auto count = take_varint(input);
    if (!count || *count > universe) return false;
    if (*count == 0) return true;
    if (input.empty()) return false;
    const auto parameter = std::to_integer<unsigned>(input.front());
    input = input.subspan(1);
    if (parameter > kMaxRiceParameter) return false;
    if (*count > input.size() * 8 / (parameter + 1))
        return false;  // each takes at least so many bits
    reserve(static_cast<std::size_t>(*count));
    RiceReader reader(parameter, universe, input);
    for (std::uint64_t i = 0; i < *count; ++i) {
        const auto position = reader.next();
        if (!position) return false;
        visit(*position);
    }
    const auto rest = reader.rest();
    if (!rest) return false;
    input = *rest;
    return true;
}

bool take_list(Input& input, std::uint64_t universe, std::vector<std::uint64_t>& list) {
    return take_positions(
        input, universe, [&](std::size_t count) { list.reserve(count); },
        [&](std::uint64_t position) { list.push_back(position); });
}

Coding append_raw(const BitArray& snapshot, Bytes& out) {
    append_coding(Coding::raw_snapshot, out);
    const auto words = std::as_bytes(snapshot.words());
    out.insert(out.end(), words.begin(), words.end());
    return Coding::raw_snapshot;
}

Coding append_snapshot(const BitArray& snapshot, Bytes& out) {
    const auto start = out.size();
    append_coding(Coding::rice_snapshot, out);
    append_positions(
        snapshot.count_ones(), snapshot.size(), [&](auto visit) { snapshot.for_each_one(visit); },
        out);
    if (out.size() - start < max_snapshot_bytes(snapshot.size())) return Coding::rice_snapshot;
    out.resize(start);
    return append_raw(snapshot, out);
}

/// Quick and sure: a snapshot takes at least one bit for each one, or all its words.
bool snapshot_takes_more_than(std::uint64_t bytes, const BitArray& snapshot) {
    return bytes < max_snapshot_bytes(snapshot.size()) && snapshot.has_ones(bytes * 8);
}

}  // namespace

void encode_delta(const Delta& delta, std::uint64_t bits, Bytes& out) {
    assert(is_valid(delta, bits));
    append_coding(Coding::delta, out);
    append_list(delta.set, bits, out);
    append_list(delta.clear, bits, out);
}

void encode_snapshot(const BitArray& snapshot, Bytes& out) {
    append_snapshot(snapshot, out);
}

Coding encode_update(const Delta* delta, const BitArray& snapshot, Bytes& out) {
    if (delta == nullptr) return append_snapshot(snapshot, out);
    const auto start = out.size();
    encode_delta(*delta, snapshot.size(), out);
    const auto delta_bytes = out.size() - start;
    if (snapshot_takes_more_than(delta_bytes, snapshot)) return Coding::delta;
    Bytes whole;
    const auto coding = append_snapshot(snapshot, whole);
    if (delta_bytes <= whole.size()) return Coding::delta;
    out.resize(start);
    out.insert(out.end(), whole.begin(), whole.end());
    return coding;
}

std::optional<Delta> decode_delta(Input payload, std::uint64_t bits) {
    Delta delta;
    if (!take_coding(Coding::delta, payload) || !take_list(payload, bits, delta.set) ||
        !take_list(payload, bits, delta.clear) || !payload.empty() || !is_valid(delta, bits)) {
        return std::nullopt;
    }
    return delta;
}

std::optional<BitArray> decode_snapshot(Input payload, std::uint64_t bits) {
    if (take_coding(Coding::raw_snapshot, payload)) {
        if (payload.size() + 1 != max_snapshot_bytes(bits)) return std::nullopt;
        std::vector<std::uint64_t> words(payload.size() / sizeof(std::uint64_t));
        std::memcpy(words.data(), payload.data(), payload.size());
        BitArray snapshot(bits);
        if (!snapshot.assign(words)) return std::nullopt;
        return snapshot;
    }
    if (!take_coding(Coding::rice_snapshot, payload)) return std::nullopt;
    BitArray snapshot(bits);
    const bool complete = take_positions(
        payload, bits, [](std::size_t) {}, [&](std::uint64_t position) { snapshot.set(position); });
    if (!complete || !payload.empty()) return std::nullopt;
    return snapshot;
}

std::optional<Update> decode_update(Input payload, std::uint64_t bits) {
    if (!payload.empty() && payload.front() == static_cast<std::byte>(Coding::delta)) {
        if (auto delta = decode_delta(payload, bits)) return Update(std::move(*delta));
        return std::nullopt;
    }
    if (auto snapshot = decode_snapshot(payload, bits)) return Update(std::move(*snapshot));
    return std::nullopt;
}

}  // namespace summary
