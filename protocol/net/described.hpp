#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace protocol {

enum class NumberKind : std::uint8_t {
    counter,  // only grows, from the start of the process
    level,    // how it stands now
};

/// One number of a struct that has nothing but numbers. Its row in the struct's table is all there
/// is to say of it: sums, /api/v1/status, /metrics and what `hearsay status` and a replay read of
/// a node follow from that, and so do the pages docs/reference/metrics.md and status.md.
///
/// To add a number: give the struct a member and the table a row, count it, and write its notes in
/// docs/reference/notes/metrics.md and status.md; then run `./dev reference`. A member without a
/// row does not compile.
template <class Of>
struct Described {
    struct Label {
        std::string_view key, value;
    };

    std::uint64_t Of::*member;
    std::string_view path;    // in /api/v1/status, dots between the names
    std::string_view unit;    // a plural: "requests", "bytes"
    std::string_view help;    // empty: as the row above, which is of the same family
    std::string_view family;  // in /metrics; rows of one stand together. Empty: `help` says where
    Label label = {};         // which of the family's values, where it has several
    NumberKind kind = NumberKind::counter;
};

template <class Of, std::size_t N>
using Descriptions = Described<Of>[N];

/// For a static_assert beside the table.
template <class Of, std::size_t N>
constexpr bool every_member_has_a_row(const Descriptions<Of, N>&) {
    return sizeof(Of) == N * sizeof(std::uint64_t);
}

template <class Of, std::size_t N>
void add(Of& sum, const Of& more, const Descriptions<Of, N>& table) {
    for (const auto& each : table) sum.*each.member += more.*each.member;
}

/// What `path` leads to: a section, empty for the page itself, and a name in there.
struct PathParts {
    std::string_view section, name;
};
constexpr PathParts parts_of(std::string_view path) {
    const auto dot = path.rfind('.');
    if (dot == std::string_view::npos) return {{}, path};
    return {path.substr(0, dot), path.substr(dot + 1)};
}

}  // namespace protocol
