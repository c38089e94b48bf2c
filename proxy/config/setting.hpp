#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "proxy/config/config.hpp"

namespace proxy {

class ConfigSection;
struct ConfigContext;

/// A number of bytes, written "512MiB". Both bounds are allowed.
struct SizeValue {
    std::uint64_t (*get)(const Config&);
    void (*set)(Config&, std::uint64_t);
    std::uint64_t low, high;
};

/// A whole number. Both bounds are allowed.
struct CountValue {
    std::uint64_t (*get)(const Config&);
    void (*set)(Config&, std::uint64_t);
    std::uint64_t low, high;
};

/// A time span, written "30s". Both bounds are allowed.
struct DurationValue {
    std::chrono::nanoseconds (*get)(const Config&);
    void (*set)(Config&, std::chrono::nanoseconds);
    std::chrono::nanoseconds low, high;
};

/// A real number above `low` and at most `high`.
struct FractionValue {
    double (*get)(const Config&);
    void (*set)(Config&, double);
    double low, high;
};

struct FlagValue {
    bool (*get)(const Config&);
    void (*set)(Config&, bool);
};

/// One of several words. The value is the index of the word.
struct ChoiceValue {
    std::size_t (*get)(const Config&);
    void (*set)(Config&, std::size_t);
    std::span<const std::string_view> words;
};

/// An address with a port, written "host:port".
struct EndpointValue {
    const HostPort& (*get)(const Config&);
    void (*set)(Config&, HostPort);
};

/// A text that must not be empty, such as the path of a file.
struct TextValue {
    const std::string& (*get)(const Config&);
    void (*set)(Config&, std::string);
    std::string_view kind;  // for people and messages: `path of a PEM file`
};

/// A list of addresses and prefixes. A list in the file replaces the default.
struct PrefixesValue {
    const PrefixList& (*get)(const Config&);
    void (*set)(Config&, PrefixList);
};

/// An object with settings of its own, which follow it in the table.
struct SectionValue {
    bool (*is_present)(const Config&) = nullptr;  // null: always
    void (*create)(Config&) = nullptr;            // called before its settings are read
    void (*remove)(Config&) = nullptr;            // for a JSON null; null: not allowed
};

/// A value with a grammar of its own.
struct SpecialValue {
    void (*read)(ConfigContext&, ConfigSection&, Config&);
    /// A discarded value stands for a setting that is not shown.
    nlohmann::ordered_json (*show)(const Config&);
    std::string_view kind;  // for people: `list of names`
};

/// A member of the elements of a list, which the reader of the list reads. The table holds it for
/// the reference page.
struct ElementValue {
    std::string_view kind;
};

/// The moment at which a running node takes a change: a reload, or a restart.
enum class Effect : std::uint8_t { on_reload, after_restart };

/// One row of the table of settings (setting_table.hpp).
struct Setting {
    using Value = std::variant<SizeValue, CountValue, DurationValue, FractionValue, FlagValue,
                               ChoiceValue, EndpointValue, TextValue, PrefixesValue, SectionValue,
                               SpecialValue, ElementValue>;

    std::string_view path;  // `cache.memory`, for members of list elements `origins[].host`
    Value value;
    Effect effect;
    std::string_view help;  // sentences for the reference page and the JSON schema
    bool required = false;
    /// Called after this setting was read or left out: rules that several settings share.
    void (*check)(ConfigContext&, ConfigSection&, Config&) = nullptr;
    std::string_view default_text = {};  // where it follows from other settings

    /// The last part of the path: `memory`.
    std::string_view key() const { return path.substr(path.rfind('.') + 1); }
    /// The path of the section that holds it: `cache`; empty at the top.
    std::string_view parent() const {
        const auto dot = path.rfind('.');
        return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
    }
};

namespace settings {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

/// The member at the end of a chain of members. An optional on the way must have a value.
template <class Object>
auto& follow(Object& object) {
    return object;
}
template <class Object, class First, class... Rest>
auto& follow(Object& object, First first, Rest... rest) {
    auto& member = object.*first;
    if constexpr (IsOptional<std::remove_const_t<std::remove_reference_t<decltype(member)>>>::value)
        return follow(*member, rest...);
    else
        return follow(member, rest...);
}

template <auto... Path>
using Member = std::remove_reference_t<decltype(follow(std::declval<Config&>(), Path...))>;

/// The two functions of a value of type `As`, for the member at the end of `Path`.
template <class As, auto... Path>
As get(const Config& config) {
    return static_cast<As>(follow(config, Path...));
}
template <class As, auto... Path>
void set(Config& config, std::remove_cvref_t<As> value) {
    follow(config, Path...) = static_cast<Member<Path...>>(std::move(value));
}

template <auto... Path>
constexpr SizeValue size(std::uint64_t low, std::uint64_t high) {
    return {get<std::uint64_t, Path...>, set<std::uint64_t, Path...>, low, high};
}
template <auto... Path>
constexpr CountValue count(std::uint64_t low, std::uint64_t high) {
    return {get<std::uint64_t, Path...>, set<std::uint64_t, Path...>, low, high};
}
template <auto... Path>
constexpr DurationValue duration(std::chrono::nanoseconds low, std::chrono::nanoseconds high) {
    return {get<std::chrono::nanoseconds, Path...>, set<std::chrono::nanoseconds, Path...>, low,
            high};
}
template <auto... Path>
constexpr FractionValue fraction(double low, double high) {
    return {get<double, Path...>, set<double, Path...>, low, high};
}
template <auto... Path>
constexpr FlagValue flag() {
    return {get<bool, Path...>, set<bool, Path...>};
}
template <auto... Path>
constexpr ChoiceValue choice(std::span<const std::string_view> words) {
    return {get<std::size_t, Path...>, set<std::size_t, Path...>, words};
}
template <auto... Path>
constexpr EndpointValue endpoint() {
    return {get<const HostPort&, Path...>, set<HostPort, Path...>};
}
template <auto... Path>
constexpr TextValue text(std::string_view kind) {
    return {get<const std::string&, Path...>, set<std::string, Path...>, kind};
}
template <auto... Path>
constexpr PrefixesValue prefixes() {
    return {get<const PrefixList&, Path...>, set<PrefixList, Path...>};
}
/// A section that may be missing: an optional member of Config.
template <auto Optional>
constexpr SectionValue optional_section() {
    return {[](const Config& config) { return (config.*Optional).has_value(); },
            [](Config& config) {
                if (!(config.*Optional)) (config.*Optional).emplace();
            },
            nullptr};
}

}  // namespace settings
}  // namespace proxy
