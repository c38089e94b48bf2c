#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/config/config.hpp"

namespace proxy {

/// The settings in which two configurations differ, as paths (`$.cache.memory`); a list is one
/// setting.
std::vector<std::string> changed_settings(const Config& from, const Config& to);

/// Of these the ones that the texts of both set differently, for people: what only follows from
/// another setting (`slice_from` from `memory`) is left out. A value with `${NAME}` may have
/// changed though its text has not.
std::vector<std::string> logged_changes(const Config& from, const Config& to,
                                        const std::vector<std::string>& changed);

/// Those changes that a running node cannot take, each with the reason. `changed` as from
/// changed_settings().
std::vector<ConfigError> restart_only(const Config& from, const Config& to,
                                      const std::vector<std::string>& changed);

/// Is `path` the setting itself, or something inside it (`$.log.level` in `$.log`)?
bool is_within(std::string_view path, std::string_view setting);

/// What became of a reload. Refused: nothing has changed.
struct Reloaded {
    enum class Outcome : std::uint8_t { applied, refused, draining };
    Outcome outcome = Outcome::refused;
    std::vector<std::string> changed;     // applied: paths of settings
    std::vector<ConfigError> errors;      // refused: why
    std::vector<ConfigError> warnings{};  // applied: why it may not be what was meant
    /// Applied, and the files of certificates that the configuration names were read again: they
    /// may be others under the same names.
    bool read_certificates = false;
};

}  // namespace proxy
