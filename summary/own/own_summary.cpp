#include "summary/own/own_summary.hpp"

#include <cassert>
#include <type_traits>
#include <utility>

namespace summary {

OwnSummary::Kinds OwnSummary::make(const Config& config) {
    switch (config.kind) {
        case Kind::counting_bloom:
            break;
        case Kind::quotient:
            return QuotientOwn(config);
        case Kind::cuckoo:
            return CuckooOwn(config);
    }
    return OwnBloomSummary(config);
}

OwnSummary::OwnSummary(const Config& config) : own_(make(config)) {}

OwnSummary::OwnSummary(const Config& config, OwnSummary&& earlier)
    : own_(std::visit(
          [&](auto& own) -> Kinds {
              using OwnOfKind = std::decay_t<decltype(own)>;
              assert(config.kind == OwnOfKind::kKind);
              return OwnOfKind(config, std::move(own));
          },
          earlier.own_)) {}

bool OwnSummary::stored(KeyHash entry) {
    return std::visit([&](auto& own) { return own.stored(entry); }, own_);
}

bool OwnSummary::removed(KeyHash entry) {
    return std::visit([&](auto& own) { return own.removed(entry); }, own_);
}

std::uint64_t OwnSummary::objects() const {
    return std::visit([](const auto& own) { return own.objects(); }, own_);
}

std::uint64_t OwnSummary::changed_since_announced() const {
    return std::visit([](const auto& own) { return own.changed_since_announced(); }, own_);
}

std::optional<std::vector<std::byte>> OwnSummary::take_delta(std::size_t max_bytes) {
    return std::visit([&](auto& own) { return own.take_payload(max_bytes); }, own_);
}

bool OwnSummary::all_announced() const {
    return std::visit([](const auto& own) { return own.all_announced(); }, own_);
}

OwnSummary::SnapshotWriter::SnapshotWriter(OwnSummary& own, std::vector<std::byte>& out) {
    std::visit(
        [&](auto& kind) {
            using Writer = typename std::decay_t<decltype(kind)>::SnapshotWriter;
            writer_.emplace<Writer>(kind, out);
        },
        own.own_);
}

bool OwnSummary::SnapshotWriter::step(OwnSummary& own) {
    return std::visit(
        [&](auto& kind) {
            using Writer = typename std::decay_t<decltype(kind)>::SnapshotWriter;
            return std::get<Writer>(writer_).step(kind);
        },
        own.own_);
}

Descriptor OwnSummary::descriptor() const {
    return std::visit([](const auto& own) { return own.descriptor(); }, own_);
}

std::uint64_t OwnSummary::epoch() const {
    return std::visit([](const auto& own) { return own.epoch(); }, own_);
}

std::uint64_t OwnSummary::generation() const {
    return std::visit([](const auto& own) { return own.generation(); }, own_);
}

std::uint64_t OwnSummary::check_hash() const {
    return std::visit([](const auto& own) { return own.check_hash(); }, own_);
}

double OwnSummary::fill_ratio() const {
    return std::visit([](const auto& own) { return own.fill_ratio(); }, own_);
}

double OwnSummary::expected_false_hit() const {
    return std::visit([](const auto& own) { return own.expected_false_hit(); }, own_);
}

Fit OwnSummary::fit() const {
    return std::visit([](const auto& own) { return own.fit(); }, own_);
}

void OwnSummary::set_error(double error) {
    std::visit([&](auto& own) { own.set_error(error); }, own_);
}

bool OwnSummary::suits() const {
    return std::visit([](const auto& own) { return own.suits(); }, own_);
}

void OwnSummary::begin_regrow() {
    std::visit([](auto& own) { own.begin_regrow(); }, own_);
}

bool OwnSummary::growing() const {
    return std::visit([](const auto& own) { return own.growing(); }, own_);
}

bool OwnSummary::grow_some() {
    return std::visit([](auto& own) { return own.grow_some(); }, own_);
}

void OwnSummary::begin_import() {
    assert(objects() == 0);
    std::visit([](auto& own) { own.begin_import(); }, own_);
}

void OwnSummary::end_import() {
    std::visit([](auto& own) { own.end_import(); }, own_);
}

bool OwnSummary::importing() const {
    return std::visit([](const auto& own) { return own.importing(); }, own_);
}

bool OwnSummary::tidy() {
    return std::visit([](auto& own) { return own.tidy(); }, own_);
}

std::uint64_t OwnSummary::memory_bytes() const {
    return std::visit([](const auto& own) { return own.memory_bytes(); }, own_);
}

}  // namespace summary
