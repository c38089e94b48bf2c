#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "proxy/config/config.hpp"
#include "proxy/config/object_ref.hpp"

namespace proxy {

class ConfigSection;
struct ConfigContext;

/// A number of bytes, written "512MiB". Both bounds are allowed.
struct SizeValue {
    std::uint64_t (*get)(ConstObjectRef);
    void (*set)(ObjectRef, std::uint64_t);
    std::uint64_t low, high;
};

/// A whole number. Both bounds are allowed.
struct CountValue {
    std::uint64_t (*get)(ConstObjectRef);
    void (*set)(ObjectRef, std::uint64_t);
    std::uint64_t low, high;
};

/// The value of a time span that is left out and has no default.
inline constexpr auto kNoSpan = std::chrono::nanoseconds::min();

/// A time span, written "30s". Both bounds are allowed.
struct DurationValue {
    std::chrono::nanoseconds (*get)(ConstObjectRef);
    void (*set)(ObjectRef, std::chrono::nanoseconds);
    std::chrono::nanoseconds low, high;
};

/// A real number above `low` and at most `high`.
struct FractionValue {
    double (*get)(ConstObjectRef);
    void (*set)(ObjectRef, double);
    double low, high;
};

struct FlagValue {
    bool (*get)(ConstObjectRef);
    void (*set)(ObjectRef, bool);
};

/// One of several words. The value is the index of the word.
struct ChoiceValue {
    std::size_t (*get)(ConstObjectRef);
    void (*set)(ObjectRef, std::size_t);
    std::span<const std::string_view> words;
};

/// An address with a port, written "host:port".
struct EndpointValue {
    const HostPort& (*get)(ConstObjectRef);
    void (*set)(ObjectRef, HostPort);
};

/// A text, such as the path of a file. It must not be empty, unless a function of its own says what
/// is wrong with it.
struct TextValue {
    const std::string& (*get)(ConstObjectRef);
    void (*set)(ObjectRef, std::string);
    std::string_view kind;  // for people and messages: `path of a PEM file`
    std::string (*fault_of)(const std::string&) = nullptr;  // empty: nothing is wrong
};

/// A list of addresses and prefixes. A list in the file replaces the default.
struct PrefixesValue {
    const PrefixList& (*get)(ConstObjectRef);
    void (*set)(ObjectRef, PrefixList);
};

/// An object with settings of its own, which follow it in the table.
struct SectionValue {
    bool (*is_present)(ConstObjectRef) = nullptr;  // null: always
    void (*create)(ObjectRef) = nullptr;           // called before its settings are read
    void (*remove)(ObjectRef) = nullptr;           // for a JSON null; null: not allowed
};

/// A list of objects. The rows of their members follow it in the table: `origins[].host`.
struct ListValue {
    std::size_t (*size)(ConstObjectRef);
    ConstObjectRef (*at)(ConstObjectRef, std::size_t);
    ObjectRef (*append)(ObjectRef);
    std::size_t most;
};

/// A value with a grammar of its own.
struct SpecialValue {
    void (*read)(ConfigSection&, std::string_view key, ObjectRef);
    /// A discarded value stands for a setting that is not shown.
    nlohmann::ordered_json (*show)(ConstObjectRef);
    std::string_view kind;  // for people: `list of names`
};

/// A member that the reader of its list or section reads and shows by hand.
struct ElementValue {
    std::string_view kind;
};

/// The moment at which a running node takes a change: a reload, or a restart.
enum class Effect : std::uint8_t { on_reload, after_restart };

/// One row of the table of settings.
struct Setting {
    using Value = std::variant<SizeValue, CountValue, DurationValue, FractionValue, FlagValue,
                               ChoiceValue, EndpointValue, TextValue, PrefixesValue, SectionValue,
                               ListValue, SpecialValue, ElementValue>;

    std::string_view path;  // `cache.memory`, for members of list elements `origins[].host`
    Value value;
    std::string_view help;  // sentences for the reference page and the JSON schema
    bool required = false;
    /// Called after this setting was read or left out: rules that several settings share.
    void (*check)(ConfigSection&, ObjectRef) = nullptr;
    std::string_view default_text = {};  // where it follows from other settings
    Effect effect = Effect::on_reload;

    /// The same row for a value that is bound at the start.
    constexpr Setting after_restart() const {
        auto row = *this;
        row.effect = Effect::after_restart;
        return row;
    }

    /// The last part of the path: `memory`.
    std::string_view key() const { return path.substr(path.rfind('.') + 1); }
    /// The path of the rows of a list's elements: `origins[]`.
    std::string path_of_elements() const { return std::string(path) + "[]"; }
    /// The path of the section that holds it: `cache`; empty at the top.
    std::string_view parent() const {
        const auto dot = path.rfind('.');
        return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
    }
};

/// All settings of the configuration file, in the order in which they are read, shown and
/// documented. A section stands before its members. The reader (config_sections.hpp), the
/// configuration in effect (config_json.hpp), the rule which changes need a restart
/// (config_changes.hpp), the JSON schema and the reference page come from this table, which
/// setting_table.cpp holds. Any thread.
std::span<const Setting> setting_table();

namespace settings {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

/// The member at the end of a chain of members. An optional on the way must have a value.
template <class Object, class First, class... Rest>
auto& follow(Object& object, First first, Rest... rest) {
    auto& member = object.*first;
    if constexpr (sizeof...(Rest) == 0)
        return member;
    else if constexpr (IsOptional<
                           std::remove_const_t<std::remove_reference_t<decltype(member)>>>::value)
        return follow(*member, rest...);
    else
        return follow(member, rest...);
}

/// Only their types are used.
template <class Object, class T, class... Rest>
Object object_of(T Object::*, Rest...);
template <class Object>
Object object_of(void (*)(ConfigSection&, Object&));
/// The type of the object that has the members `Path`, or that a function is for.
template <auto... Path>
using ObjectOf = decltype(object_of(Path...));
template <auto... Path>
using Member =
    std::remove_reference_t<decltype(follow(std::declval<ObjectOf<Path...>&>(), Path...))>;

/// The member at the end of `Path`, without the optional around it.
template <auto... Path, class Ref>
auto& reached(const Ref& object) {
    auto& member = follow(object.template as<ObjectOf<Path...>>(), Path...);
    if constexpr (IsOptional<Member<Path...>>::value)
        return *member;
    else
        return member;
}

/// The two functions of a value of type `As`, for the member at the end of `Path`. An optional
/// member is a time span that may be left out; it is rounded up.
template <class As, auto... Path>
As get(ConstObjectRef object) {
    const auto& member = follow(object.as<ObjectOf<Path...>>(), Path...);
    if constexpr (IsOptional<Member<Path...>>::value)
        return member ? As(*member) : kNoSpan;
    else
        return static_cast<As>(member);
}
template <class As, auto... Path>
void set(ObjectRef object, std::remove_cvref_t<As> value) {
    auto& member = follow(object.as<ObjectOf<Path...>>(), Path...);
    if constexpr (!IsOptional<Member<Path...>>::value)
        member = static_cast<Member<Path...>>(std::move(value));
    else if (value != kNoSpan)
        member = std::chrono::ceil<typename Member<Path...>::value_type>(value);
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
constexpr TextValue text(std::string_view kind,
                         std::string (*fault_of)(const std::string&) = nullptr) {
    return {get<const std::string&, Path...>, set<std::string, Path...>, kind, fault_of};
}
template <auto... Path>
constexpr PrefixesValue prefixes() {
    return {get<const PrefixList&, Path...>, set<PrefixList, Path...>};
}
/// A section that may be missing: an optional member.
template <auto... Path>
constexpr SectionValue optional_section() {
    return {[](ConstObjectRef object) {
                return follow(object.as<ObjectOf<Path...>>(), Path...).has_value();
            },
            [](ObjectRef object) {
                auto& section = follow(object.as<ObjectOf<Path...>>(), Path...);
                if (!section) section.emplace();
            },
            nullptr};
}
/// A list of objects, at most `most`.
template <auto... Path>
constexpr ListValue list(std::size_t most) {
    return {[](ConstObjectRef object) {
                return follow(object.as<ObjectOf<Path...>>(), Path...).size();
            },
            [](ConstObjectRef object, std::size_t i) {
                return ConstObjectRef(follow(object.as<ObjectOf<Path...>>(), Path...)[i]);
            },
            [](ObjectRef object) {
                return ObjectRef(follow(object.as<ObjectOf<Path...>>(), Path...).emplace_back());
            },
            most};
}
template <auto Show, auto... Path>
nlohmann::ordered_json show_member(ConstObjectRef object) {
    if constexpr (std::is_null_pointer_v<decltype(Show)>)
        return reached<Path...>(object);
    else
        return Show(reached<Path...>(object));
}
template <auto Read, auto... Path>
void read_member(ConfigSection& in, std::string_view key, ObjectRef object) {
    Read(in, key, reached<Path...>(object));
}
/// A value with a grammar of its own. `Read(section, key, member)` reads it; null: the
/// reader of another one does. `Show(member)` is its JSON; null: that of the member.
template <auto Read, auto Show, auto... Path>
constexpr SpecialValue special(std::string_view kind) {
    SpecialValue value{nullptr, show_member<Show, Path...>, kind};
    if constexpr (!std::is_null_pointer_v<decltype(Read)>) value.read = read_member<Read, Path...>;
    return value;
}
/// A rule over several settings, as `Setting::check`: a function of an object of any type.
template <auto Function>
void check(ConfigSection& in, ObjectRef object) {
    Function(in, object.as<ObjectOf<Function>>());
}

}  // namespace settings
}  // namespace proxy
