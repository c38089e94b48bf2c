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

/// The state that all sections of one file share while it is read.
struct ConfigContext {
    const Environment& environment;
    std::vector<ConfigError> errors;
    std::vector<ConfigError> warnings = {};
    std::vector<std::string> settings = {};         // all known paths: `$.cache.memory`
    std::vector<std::string> written_secrets = {};  // paths of secrets that the text itself shows

    void doubt(std::string path, std::string message) {
        warnings.push_back({std::move(path), std::move(message)});
    }
    void fail(std::string path, std::string message) {
        errors.push_back({std::move(path), std::move(message)});
    }
    /// True if this value, or one within it, has an error.
    bool failed(std::string_view path) const;
};

/// Reads one JSON object. Each read names a key, so that done() knows all keys and can report the
/// others. An absent key leaves the default. A value that does not fit reports an error and leaves
/// the default, too, so that reading goes on and finds every fault.
class ConfigSection {
public:
    /// `value` must outlive the section. Anything but an object is an error and reads as empty.
    ConfigSection(ConfigContext& context, const nlohmann::json& value, std::string path);

    ConfigContext& context() { return context_; }
    std::string path(std::string_view key) const { return path_ + "." + std::string(key); }
    bool has(std::string_view key) const { return value_->contains(key); }
    void fail(std::string_view key, std::string message) {
        context_.fail(path(key), std::move(message));
    }

    /// The value of this key is unknown, and so are its consequences.
    bool failed(std::string_view key) const { return context_.failed(path(key)); }

    void doubt(std::string_view key, std::string message) {
        context_.doubt(path(key), std::move(message));
    }

    /// Marks the key as known and returns its value; null when absent.
    const nlohmann::json* take(std::string_view key);
    /// Reports a missing key that must be there.
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

    /// The index of the word under the key. Any word outside `words` is an error.
    std::optional<std::size_t> choice(std::string_view key,
                                      std::span<const std::string_view> words);

    /// The object under a key, if it is there.
    std::optional<ConfigSection> section(std::string_view key);
    /// The elements of the array under a key, each with its path.
    std::vector<std::pair<const nlohmann::json*, std::string>> elements(std::string_view key);

    /// Reports the keys without a read, each with the nearest known name.
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
void read_prefixes(ConfigSection& in, std::string_view key, PrefixList& out);

/// `.name`, or `["odd name"]` so that no key can garble a message.
std::string subscript(const std::string& key);

/// `a number`, `an object`: for messages.
std::string_view kind_of(const nlohmann::json& value);

/// The string in an array element, expanded. Reports any other value, and bytes of the environment
/// that are no UTF-8, which JSON, log and page could not show.
std::optional<std::string> text_of(ConfigContext& context, const nlohmann::json& value,
                                   const std::string& path);
/// The same for a secret, which may have any bytes as it is never shown. Notes whether the text
/// itself contains it.
std::optional<std::string> secret_of(ConfigContext& context, const nlohmann::json& value,
                                     const std::string& path);

}  // namespace proxy
