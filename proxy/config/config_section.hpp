#pragma once

#include "proxy/config/config.hpp"

#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace proxy {

/// What all sections of one file share while it is read.
struct ConfigContext {
    const Environment& environment;
    std::vector<ConfigError> errors;
    std::vector<ConfigError> warnings = {};
    std::vector<std::string> settings = {};         // paths of all there are: `$.cache.memory`
    std::vector<std::string> written_secrets = {};  // paths of secrets that the text itself shows

    void doubt(std::string path, std::string message) {
        warnings.push_back({std::move(path), std::move(message)});
    }
    void fail(std::string path, std::string message) {
        errors.push_back({std::move(path), std::move(message)});
    }
    /// Is something wrong here, or within?
    bool failed(std::string_view path) const;
};

/// Reads one JSON object. Each read names a key, so that done() knows all keys there are and can
/// report the others. A read of an absent key leaves the default; one that does not fit reports an
/// error and leaves the default too, so that reading goes on and finds every problem.
class ConfigSection {
public:
    /// `value` must outlive the section; anything but an object is reported and reads as empty.
    ConfigSection(ConfigContext& context, const nlohmann::json& value, std::string path);

    std::string path(std::string_view key) const { return path_ + "." + std::string(key); }
    bool has(std::string_view key) const { return value_->contains(key); }
    void fail(std::string_view key, std::string message) {
        context_.fail(path(key), std::move(message));
    }

    /// What follows from this key's value is not known.
    bool failed(std::string_view key) const { return context_.failed(path(key)); }

    void doubt(std::string_view key, std::string message) {
        context_.doubt(path(key), std::move(message));
    }

    /// The value under a key, which from now on is known; null when absent.
    const nlohmann::json* take(std::string_view key);
    /// Reports a key that has to be there and is not.
    void require(std::string_view key);

    /// A string with `${NAME}` expanded.
    std::optional<std::string> text(std::string_view key);
    void read(std::string_view key, std::string& out);
    void read(std::string_view key, bool& out);
    /// A real number, low < number <= high.
    void read(std::string_view key, double& out, double low, double high);
    /// A whole number, low <= number <= high.
    template <std::unsigned_integral T>
    void read(std::string_view key, T& out, T low, T high) {
        if (const auto number = whole(key, low, high)) out = static_cast<T>(*number);
    }
    void read(std::string_view key, HostPort& out);
    /// `"30s"`, or a number of seconds.
    void read(std::string_view key, std::chrono::nanoseconds& out, std::chrono::nanoseconds low,
              std::chrono::nanoseconds high);
    /// `"512MiB"`, or a number of bytes.
    template <std::unsigned_integral T>
    void read_size(std::string_view key, T& out, std::uint64_t low, std::uint64_t high) {
        static_assert(sizeof(T) == sizeof(std::uint64_t));
        if (const auto bytes = size(key, low, high)) out = static_cast<T>(*bytes);
    }

    /// The index of the word that stands there; anything but one of `words` is reported.
    std::optional<std::size_t> choice(std::string_view key,
                                      std::span<const std::string_view> words);

    /// The object under a key, if it is there.
    std::optional<ConfigSection> section(std::string_view key);
    /// The elements of the array under a key, each with its path.
    std::vector<std::pair<const nlohmann::json*, std::string>> elements(std::string_view key);

    /// Reports the keys that nobody read, each with the nearest name that was.
    void done();

private:
    std::optional<std::uint64_t> whole(std::string_view key, std::uint64_t low, std::uint64_t high);
    std::optional<std::uint64_t> size(std::string_view key, std::uint64_t low, std::uint64_t high);

    ConfigContext& context_;
    const nlohmann::json* value_;
    std::string path_;
    std::vector<std::string> known_;
};

/// Reads a list of addresses and prefixes, which replaces the default in `out`.
void read_prefixes(ConfigContext& context, ConfigSection& in, std::string_view key,
                   PrefixList& out);

/// `.name`, or `["odd name"]` so that no key can garble a message.
std::string subscript(const std::string& key);

/// `a number`, `an object`: for messages.
std::string_view kind_of(const nlohmann::json& value);

/// The string in an array element or the like, expanded; reports anything else, and what an
/// environment brings that is no UTF-8: JSON, log and page could not show it.
std::optional<std::string> text_of(ConfigContext& context, const nlohmann::json& value,
                                   const std::string& path);
/// The same for what is never shown, of any bytes. Remembers whether the text has the secret
/// itself.
std::optional<std::string> secret_of(ConfigContext& context, const nlohmann::json& value,
                                     const std::string& path);

}  // namespace proxy
