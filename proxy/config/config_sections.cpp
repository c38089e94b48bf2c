#include "proxy/config/config_sections.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "proxy/config/setting.hpp"

namespace proxy {
namespace {

using nlohmann::json;

/// Reads one setting. Each overload leaves the default where the value does not fit.
class SettingReader {
public:
    SettingReader(ConfigSection& in, const Setting& setting, ObjectRef out)
        : in_(in), setting_(setting), key_(setting.key()), out_(out) {}

    void operator()(const SizeValue& value) {
        change(value, [&](auto& bytes) { in_.read_size(key_, bytes, value.low, value.high); });
    }
    template <class Bounded>
    requires requires(Bounded value) { value.low, value.high; }
    void operator()(const Bounded& value) {
        change(value, [&](auto& number) { in_.read(key_, number, value.low, value.high); });
    }
    void operator()(const FlagValue& value) {
        change(value, [&](auto& flag) { in_.read(key_, flag); });
    }
    void operator()(const EndpointValue& value) {
        change(value, [&](auto& endpoint) { in_.read(key_, endpoint); });
    }
    void operator()(const PrefixesValue& value) {
        change(value, [&](auto& list) { read_prefixes(in_, key_, list); });
    }
    void operator()(const ChoiceValue& value) {
        if (const auto index = in_.choice(key_, value.words)) value.set(out_, *index);
    }
    void operator()(const TextValue& value) {
        auto text = in_.text(key_);
        if (!text) return;
        const auto fault = value.fault_of != nullptr ? value.fault_of(*text)
                           : text->empty()           ? "must be the " + std::string(value.kind)
                                                     : std::string();
        if (!fault.empty()) in_.fail(key_, fault);
        value.set(out_, std::move(*text));
    }
    void operator()(const SectionValue& value) {
        const auto* given = in_.take(key_);
        if (value.remove != nullptr && given->is_null()) return value.remove(out_);
        if (value.create != nullptr) value.create(out_);
        ConfigSection section(in_.context(), *given, in_.path(key_));
        read_members(section, setting_.path, out_);
    }
    void operator()(const ListValue& value) {
        const auto elements = in_.elements(key_);
        for (const auto& [element, path] : elements) {
            ConfigSection section(in_.context(), *element, path);
            read_members(section, setting_.path_of_elements(), value.append(out_));
        }
        if (elements.size() > value.most)
            in_.fail(key_, "must have at most " + std::to_string(value.most) + " elements");
    }

private:
    /// Gets the present value, lets `read` replace it, and sets the result.
    template <class Value, class Read>
    void change(const Value& value, Read read) {
        auto now = value.get(out_);
        read(now);
        value.set(out_, std::move(now));
    }

    ConfigSection& in_;
    const Setting& setting_;
    std::string_view key_;
    ObjectRef out_;
};

void read_setting(ConfigSection& in, const Setting& setting, ObjectRef out) {
    if (std::holds_alternative<ElementValue>(setting.value)) return;
    if (const auto* special = std::get_if<SpecialValue>(&setting.value)) {
        if (special->read != nullptr) special->read(in, setting.key(), out);
    } else if (in.has(setting.key())) {
        std::visit(
            [&]<class Value>(const Value& value) {
                if constexpr (std::is_invocable_v<SettingReader&, const Value&>)
                    SettingReader(in, setting, out)(value);
            },
            setting.value);
    } else {
        in.take(setting.key());
        if (setting.required) in.require(setting.key());
    }
    if (setting.check != nullptr) setting.check(in, out);
}

}  // namespace

void read_members(ConfigSection& in, std::string_view parent, ObjectRef out) {
    for (const auto& setting : setting_table())
        if (setting.parent() == parent) read_setting(in, setting, out);
    in.done();
}

Config read_sections(ConfigContext& context, const json& value) {
    Config out;
    ConfigSection root(context, value, "$");
    root.take("$schema");
    read_members(root, {}, out);
    const bool is_known = !root.failed("origins") && !root.failed("forward");
    if (out.origins.empty() && !out.forward.enabled && value.is_object() && is_known) {
        context.fail("$",
                     "there is nothing to serve; list origins, or set forward.enabled to true");
    }
    return out;
}

}  // namespace proxy
