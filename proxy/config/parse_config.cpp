#include "proxy/config/parse_config.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "proxy/config/config_json.hpp"
#include "proxy/config/config_review.hpp"
#include "proxy/config/config_sections.hpp"
#include "proxy/config/config_values.hpp"
#include "proxy/config/json_text.hpp"

namespace proxy {
namespace {

using nlohmann::json;

/// The settings that the text has itself (LoadedConfig::given).
void note_given(const json& section, const std::string& path,
                std::map<std::string, std::string>& out) {
    if (!section.is_object()) return;
    for (const auto& [key, value] : section.items()) {
        const auto at = path + '.' + key;
        if (value.is_object())
            note_given(value, at, out);
        else
            out[at == "$.cluster.key" ? "$.cluster.keys" : at] =
                value.dump(-1, ' ', true, json::error_handler_t::replace);
    }
}

/// Reads all settings of the text. There is no configuration only if the text is no JSON.
ConfigResult read_text(std::string_view text, const Environment& environment) {
    ConfigContext context{environment, {}};
    context.settings = setting_paths();
    ConfigResult result;
    try {
        const auto value = parse_json(text, context);
        result.config.emplace(read_sections(context, value));
        note_given(value, "$", result.config->given);
    } catch (const json::exception& error) {
        context.fail("$", syntax_message(error, text));
    }
    result.errors = std::move(context.errors);
    result.warnings = std::move(context.warnings);
    result.written_secrets = std::move(context.written_secrets);
    return result;
}

/// Empty, or why not.
std::string read_file(const std::filesystem::path& file, std::string& text) {
    const auto fail = [&](const std::string& why) {
        return "cannot read " + file.string() + ": " + why;
    };
    std::ifstream in(file, std::ios::binary);
    if (!in) return fail(std::strerror(errno));
    text.assign(kMaxConfigBytes + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (in.bad()) return fail(std::strerror(errno));
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text.size() > kMaxConfigBytes)
        return fail("it is larger than " + format_size(kMaxConfigBytes));
    return {};
}

void append(std::vector<ConfigError>& to, std::vector<ConfigError> more) {
    std::move(more.begin(), more.end(), std::back_inserter(to));
}

}  // namespace

ConfigResult parse_config(std::string_view text, const Environment& environment) {
    auto result = read_text(text, environment);
    if (result.config && result.errors.empty()) {
        result.errors = contradictions(*result.config);
        append(result.warnings, doubts(*result.config));
    }
    if (!result.errors.empty()) result.config.reset();
    return result;
}

ConfigResult read_config(const std::filesystem::path& file, const Environment& environment) {
    std::string text;
    if (auto why = read_file(file, text); !why.empty()) return {std::nullopt, {{{}, why}}};
    return parse_config(text, environment);
}

ConfigResult load_settings(const std::filesystem::path& file, const Environment& environment) {
    std::string text;
    if (auto why = read_file(file, text); !why.empty()) return {std::nullopt, {{{}, why}}};
    auto result = read_text(text, environment);
    if (!result.config) return result;
    std::erase_if(result.errors, [](const ConfigError& error) {
        return error.path != "$.admin" && error.path != "$.admin.listen";
    });
    if (!result.errors.empty()) result.config.reset();
    return result;
}

}  // namespace proxy
