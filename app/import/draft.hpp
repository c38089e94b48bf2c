#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/import/directive.hpp"

namespace app {

/// One line of the list of what was not taken over.
struct ImportRemark {
    enum class Weight : std::uint8_t {
        warning,   // about access or privacy
        left_out,  // the rest
    };
    Weight weight;
    std::string place;  // FILE:LINE; empty: about the whole
    std::string text;
};

/// The content of this block of nginx counts as directives. That of others, such as `map`, is a
/// part of the directive.
bool holds_directives(std::string_view block);

/// The configuration that grows from a foreign one, with the remarks about it. The directives have
/// to outlive the translation; the counts tell them apart by their addresses.
class ImportDraft {
public:
    using Json = nlohmann::ordered_json;

    /// Sets the value at a path such as `cache.memory`.
    void set(std::string_view path, Json value);
    bool has(std::string_view path) const;
    Json& settings() { return settings_; }

    /// Adds a rule. Its name is made unique.
    void add_rule(std::string name, Json rule);
    /// A change of fields that holds for every request: `edits` is request_fields or
    /// response_fields, `kind` is set, add or remove. A later value of a field replaces the
    /// earlier.
    void edit_fields(const char* edits, const char* kind, std::string_view name,
                     std::string_view value);

    /// The directive is not taken over, which concerns access or privacy.
    void warn(const Directive& directive, std::string_view why);
    /// The same about the whole.
    void warn(std::string_view why);
    /// The directive is not taken over.
    void leave_out(const Directive& directive, std::string_view why);
    /// The directive needs no setting.
    void needs_nothing(const Directive& directive) { idle_.insert(&directive); }
    /// Counts everything in the block of a directive that was left out as listed.
    void lose_block(const Directive& directive);
    void count(std::size_t directives) { directives_ += directives; }

    /// The complete configuration: sections in the order of the reference, rules with the changes
    /// of fields, and `$` of texts protected from the substitution of variables.
    Json finish() const;

    const std::vector<ImportRemark>& remarks() const { return remarks_; }
    std::size_t warnings() const;
    std::size_t directives() const { return directives_; }
    /// Directives that need no setting, without those that are listed.
    std::size_t idle() const;
    /// Directives with a remark, or in a block with one.
    std::size_t listed() const { return listed_.size(); }

private:
    void remark(ImportRemark::Weight weight, const Directive& directive, std::string_view why);

    Json settings_ = Json::object();
    std::vector<Json> rules_;
    Json edits_ = Json::object();
    std::vector<ImportRemark> remarks_;
    std::set<const Directive*> listed_, idle_;
    std::size_t directives_ = 0;
};

/// The start of a directive, for messages: printable, at most 72 bytes.
std::string shown(const Directive& directive);

/// A number with a unit of Squid or nginx as bytes: `256 MB`, `10m`, `4096`. Units have 1,024 each.
/// Nothing for another text.
std::optional<std::uint64_t> import_size(std::string_view number, std::string_view unit);
/// Bytes as a size of the configuration.
std::string import_size_text(std::uint64_t bytes);
/// A span of Squid (`5 minutes`) or nginx (`1h30m`, `10`) in milliseconds, at most ten years.
std::optional<std::uint64_t> import_span(std::string_view text);
std::string import_span_text(std::uint64_t milliseconds);

}  // namespace app
