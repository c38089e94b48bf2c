#include "proxy/config/config_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "proxy/config/config_values.hpp"
#include "proxy/config/setting.hpp"

namespace proxy {

namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t kShareKeptForOthers = 8;  // one part in so many

/// One setting as JSON. A discarded value stands for one that is not shown.
class SettingPrinter {
public:
    SettingPrinter(ConstObjectRef object, const Setting& setting)
        : object_(object), setting_(setting) {}

    ordered_json operator()(const SizeValue& value) const {
        return format_size(value.get(object_));
    }
    ordered_json operator()(const CountValue& value) const { return value.get(object_); }
    ordered_json operator()(const DurationValue& value) const {
        const auto span = value.get(object_);
        return span == kNoSpan ? discarded() : ordered_json(format_duration(span));
    }
    ordered_json operator()(const FractionValue& value) const { return value.get(object_); }
    ordered_json operator()(const FlagValue& value) const { return value.get(object_); }
    ordered_json operator()(const ChoiceValue& value) const {
        return value.words[value.get(object_)];
    }
    ordered_json operator()(const EndpointValue& value) const { return value.get(object_).text(); }
    ordered_json operator()(const TextValue& value) const {
        const auto& text = value.get(object_);
        return text.empty() ? discarded() : ordered_json(text);
    }
    ordered_json operator()(const PrefixesValue& value) const { return value.get(object_).texts(); }
    ordered_json operator()(const SectionValue& value) const {
        if (value.is_present == nullptr || value.is_present(object_))
            return members_json(object_, setting_.path);
        return value.remove != nullptr ? ordered_json() : discarded();
    }
    ordered_json operator()(const ListValue& value) const {
        auto list = ordered_json::array();
        for (std::size_t i = 0; i < value.size(object_); ++i)
            list.push_back(members_json(value.at(object_, i), setting_.path_of_elements()));
        return list;
    }
    ordered_json operator()(const SpecialValue& value) const { return value.show(object_); }
    ordered_json operator()(const ElementValue&) const { return discarded(); }

private:
    static ordered_json discarded() { return ordered_json::value_t::discarded; }

    ConstObjectRef object_;
    const Setting& setting_;
};

template <class Enum, class Names>
std::string_view name_in(const Names& names, Enum value) {
    return names.at(static_cast<std::size_t>(value));
}

}  // namespace

ordered_json members_json(ConstObjectRef object, std::string_view parent) {
    auto out = ordered_json::object();
    for (const auto& setting : setting_table()) {
        if (setting.parent() != parent) continue;
        auto value = std::visit(SettingPrinter(object, setting), setting.value);
        if (!value.is_discarded()) out[std::string(setting.key())] = std::move(value);
    }
    return out;
}

std::string_view to_string(DiskAdmission admission) {
    return name_in(kDiskAdmissionNames, admission);
}

std::string_view to_string(CopyPolicy policy) {
    return name_in(kCopyPolicyNames, policy);
}

std::string_view to_string(ForwardedMode mode) {
    return name_in(kForwardedModeNames, mode);
}

std::string_view to_string(BlocklistFormat format) {
    return name_in(kBlocklistFormatNames, format);
}

std::string_view to_string(BlocklistAction action) {
    return name_in(kBlocklistActionNames, action);
}

std::string_view to_string(TokenFor what) {
    return name_in(kTokenForNames, what);
}

std::string_view to_string(LogLevel level) {
    return name_in(kLogLevelNames, level);
}

std::string_view to_string(AccessFormat format) {
    return name_in(kAccessFormatNames, format);
}

std::uint64_t connections_of_one(const LimitsConfig& limits, std::uint64_t connections) {
    const auto most = limits.connections_per_address > 0
                          ? std::uint64_t{limits.connections_per_address}
                          : connections - connections / kShareKeptForOthers;
    return std::min(most, connections);
}

ordered_json config_json(const Config& config) {
    return members_json(config, {});
}

std::string effective_config(const Config& config) {
    // A path may hold any byte, and no response is worth an exception.
    return config_json(config).dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::vector<std::string> setting_paths() {
    std::vector<std::string> out;
    for (const auto& setting : setting_table()) out.push_back("$." + std::string(setting.path));
    return out;
}

}  // namespace proxy
