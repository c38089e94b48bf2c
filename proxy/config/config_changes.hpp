#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/config/loaded_config.hpp"

namespace proxy {

/// The settings in which two configurations differ, as paths (`$.cache.memory`); a list is one
/// setting.
std::vector<std::string> changed_settings(const Config& from, const Config& to);

/// The changed settings for people: those that both texts set differently. A consequence of another
/// setting (`slice_from` of `memory`) is left out. A value with `${NAME}` may have changed although
/// its text has not.
std::vector<std::string> logged_changes(const LoadedConfig& from, const LoadedConfig& to,
                                        const std::vector<std::string>& changed);

/// The changes that a running node cannot take, each with the reason. `changed`: by
/// changed_settings().
std::vector<ConfigError> restart_only(const Config& from, const Config& to,
                                      const std::vector<std::string>& changed);

/// True if `path` is the setting itself, or lies within it (`$.log.level` in `$.log`).
bool is_within(std::string_view path, std::string_view setting);

/// The outcome of a reload. Refused: nothing has changed. Under way: the files are still being
/// read, and the log and the status will have the outcome.
struct Reloaded {
    enum class Outcome : std::uint8_t { applied, refused, draining, under_way };
    Outcome outcome = Outcome::refused;
    std::vector<std::string> changed;     // applied: paths of settings
    std::vector<ConfigError> errors;      // refused: the reasons
    std::vector<ConfigError> warnings{};  // applied: doubts about the meaning
    /// Applied, and the certificate files were read again. Their content may be new under the same
    /// names.
    bool read_certificates = false;
    bool read_blocklists = false;  // applied, with other blocklists than before
    bool read_users = false;       // applied, and the users' file was read again
};

}  // namespace proxy
