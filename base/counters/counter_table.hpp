#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace base {

enum class NumberKind : std::uint8_t {
    counter,  // only grows, from the start of the process
    level,    // present value
};

/// One number of a struct that consists of numbers. The struct's table has one row for each. Sums,
/// /api/v1/status, /metrics, the numbers that `hearsay status` and a replay read, and the pages
/// docs/reference/metrics.md and status.md follow from the row.
///
/// To add a number: add a member to the struct and a row to its table, count it, and write a row
/// for it in docs/reference/metrics.md and status.md; then run `./dev reference`. A member without
/// a row in its table is a compile error.
template <class Of>
struct CounterRow {
    struct Label {
        std::string_view key, value;
    };

    std::uint64_t Of::*member;
    std::string_view path;    // in /api/v1/status, dots between the names
    std::string_view unit;    // a plural: "requests", "bytes"
    std::string_view help;    // empty: that of the row above, of the same family
    std::string_view family;  // in /metrics; rows of one family stand together. Empty: see `help`
    Label label = {};         // value within the family, if it has several
    NumberKind kind = NumberKind::counter;
};

template <class Of, std::size_t N>
using CounterTable = CounterRow<Of>[N];

/// For a static_assert beside a list of members: as many as `Of` has, and none twice.
template <class Of, std::size_t N>
constexpr bool every_member_is_listed(const std::array<std::uint64_t Of::*, N>& members) {
    for (std::size_t i = 0; i < N; ++i)
        for (std::size_t k = 0; k < i; ++k)
            if (members[i] == members[k]) return false;
    return sizeof(Of) == N * sizeof(std::uint64_t);
}

/// The same beside a table.
template <class Of, std::size_t N>
constexpr bool every_member_has_a_row(const CounterTable<Of, N>& table) {
    std::array<std::uint64_t Of::*, N> members{};
    for (std::size_t i = 0; i < N; ++i) members[i] = table[i].member;
    return every_member_is_listed<Of>(members);
}

template <class Of, std::size_t N>
void add(Of& sum, const Of& more, const CounterTable<Of, N>& table) {
    for (const auto& each : table) sum.*each.member += more.*each.member;
}

/// The parts of `path`: a section, which is empty for the page itself, and a name in it.
struct PathParts {
    std::string_view section, name;
};
constexpr PathParts parts_of(std::string_view path) {
    const auto dot = path.rfind('.');
    if (dot == std::string_view::npos) return {{}, path};
    return {path.substr(0, dot), path.substr(dot + 1)};
}

}  // namespace base
