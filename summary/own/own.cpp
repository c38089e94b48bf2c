#include "summary/own/own.hpp"

#include <cassert>
#include <type_traits>
#include <utility>

namespace summary {

Own::Kinds Own::make(const Config& config) {
    switch (config.kind) {
        case Kind::counting_bloom:
            break;
        case Kind::quotient:
            return QuotientOwn(config);
        case Kind::cuckoo:
            return CuckooOwn(config);
    }
    return CountingBloomOwn(config);
}

Own::Own(const Config& config) : own_(make(config)) {}

Own::Own(const Config& config, Own&& earlier)
    : own_(std::visit(
          [&](auto& own) -> Kinds {
              using OwnOfKind = std::decay_t<decltype(own)>;
              assert(config.kind == OwnOfKind::kKind);
              return OwnOfKind(config, std::move(own));
          },
          earlier.own_)) {}

bool Own::stored(KeyHash entry) {
    return std::visit([&](auto& own) { return own.stored(entry); }, own_);
}

bool Own::removed(KeyHash entry) {
    return std::visit([&](auto& own) { return own.removed(entry); }, own_);
}

std::uint64_t Own::objects() const {
    return std::visit([](const auto& own) { return own.objects(); }, own_);
}

std::uint64_t Own::changed_since_announced() const {
    return std::visit([](const auto& own) { return own.changed_since_announced(); }, own_);
}

std::optional<std::vector<std::byte>> Own::take_delta(std::size_t max_bytes) {
    return std::visit([&](auto& own) { return own.take_payload(max_bytes); }, own_);
}

bool Own::all_announced() const {
    return std::visit([](const auto& own) { return own.all_announced(); }, own_);
}

Own::SnapshotWriter::SnapshotWriter(Own& own, std::vector<std::byte>& out) {
    std::visit(
        [&](auto& kind) {
            using Writer = typename std::decay_t<decltype(kind)>::SnapshotWriter;
            writer_.emplace<Writer>(kind, out);
        },
        own.own_);
}

bool Own::SnapshotWriter::step(Own& own) {
    return std::visit(
        [&](auto& kind) {
            using Writer = typename std::decay_t<decltype(kind)>::SnapshotWriter;
            return std::get<Writer>(writer_).step(kind);
        },
        own.own_);
}

Descriptor Own::descriptor() const {
    return std::visit([](const auto& own) { return own.descriptor(); }, own_);
}

std::uint64_t Own::epoch() const {
    return std::visit([](const auto& own) { return own.epoch(); }, own_);
}

std::uint64_t Own::generation() const {
    return std::visit([](const auto& own) { return own.generation(); }, own_);
}

std::uint64_t Own::check_hash() const {
    return std::visit([](const auto& own) { return own.check_hash(); }, own_);
}

double Own::fill_ratio() const {
    return std::visit([](const auto& own) { return own.fill_ratio(); }, own_);
}

double Own::expected_false_hit() const {
    return std::visit([](const auto& own) { return own.expected_false_hit(); }, own_);
}

Fit Own::fit() const {
    return std::visit([](const auto& own) { return own.fit(); }, own_);
}

void Own::set_error(double error) {
    std::visit([&](auto& own) { own.set_error(error); }, own_);
}

bool Own::suits() const {
    return std::visit([](const auto& own) { return own.suits(); }, own_);
}

void Own::begin_regrow() {
    std::visit([](auto& own) { own.begin_regrow(); }, own_);
}

bool Own::growing() const {
    return std::visit([](const auto& own) { return own.growing(); }, own_);
}

bool Own::grow_some() {
    return std::visit([](auto& own) { return own.grow_some(); }, own_);
}

void Own::begin_import() {
    assert(objects() == 0);
    std::visit([](auto& own) { own.begin_import(); }, own_);
}

void Own::end_import() {
    std::visit([](auto& own) { own.end_import(); }, own_);
}

bool Own::importing() const {
    return std::visit([](const auto& own) { return own.importing(); }, own_);
}

bool Own::tidy() {
    return std::visit([](auto& own) { return own.tidy(); }, own_);
}

std::uint64_t Own::memory_bytes() const {
    return std::visit([](const auto& own) { return own.memory_bytes(); }, own_);
}

}  // namespace summary
