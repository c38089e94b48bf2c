#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "measure/trace/printable.hpp"

namespace measure {

/// Readers of a page that another node wrote: a missing member, or one of another type, reads as
/// empty, so the program survives every answer of a node. Thread-safe.

/// The member of an object, or null.
inline const nlohmann::json& member(const nlohmann::json& from, const char* name) {
    static const nlohmann::json kNull;
    const auto at = from.find(name);  // end() for anything but an object
    return at == from.end() ? kNull : *at;
}

/// The text, fit for a terminal.
inline std::string text_at(const nlohmann::json& from, const char* name) {
    const auto& value = member(from, name);
    return value.is_string() ? printable(value.get<std::string>()) : std::string();
}

inline std::uint64_t count_at(const nlohmann::json& from, const char* name) {
    const auto& value = member(from, name);
    return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

inline std::optional<double> number_at(const nlohmann::json& from, const char* name) {
    const auto& value = member(from, name);
    return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

}  // namespace measure
