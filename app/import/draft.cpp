#include "app/import/draft.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "measure/trace/printable.hpp"
#include "proxy/config/config_values.hpp"
#include "proxy/http/field_list.hpp"

namespace app {
namespace {

using Json = ImportDraft::Json;

constexpr std::array<std::string_view, 14> kSectionOrder{
    "node",      "listen",  "tls",     "workers", "admin", "clients", "forward",
    "forwarded", "upgrade", "origins", "rules",   "cache", "log",     "purge"};
constexpr std::uint64_t kTenYearsMs = std::uint64_t{3650} * 24 * 3'600'000;
constexpr std::size_t kShownBytes = 72;

/// `${` begins a variable in the configuration, and `$${` stands for it.
void protect_dollars(Json& value) {
    if (value.is_string()) {
        auto text = value.get<std::string>();
        for (auto at = text.find("${"); at != std::string::npos; at = text.find("${", at + 3))
            text.insert(at, 1, '$');
        value = std::move(text);
    } else if (value.is_structured()) {
        for (auto& each : value) protect_dollars(each);
    }
}

std::string path_pointer(std::string_view path) {
    std::string out = "/";
    for (const char c : path) out.push_back(c == '.' ? '/' : c);
    return out;
}

/// Merges the changes of fields that hold for every request into those of one rule, which win.
void merge_edits(Json& rule, const Json& edits) {
    for (const auto& [which, kinds] : edits.items())
        for (const auto& [kind, lines] : kinds.items()) {
            auto& into = rule[which][kind];
            if (kind == "remove") {
                for (const auto& name : lines)
                    if (std::find(into.begin(), into.end(), name) == into.end())
                        into.push_back(name);
            } else {
                for (const auto& [name, value] : lines.items())
                    if (!into.contains(name)) into[name] = value;
            }
        }
}

}  // namespace

void ImportDraft::set(std::string_view path, Json value) {
    settings_[Json::json_pointer(path_pointer(path))] = std::move(value);
}

bool ImportDraft::has(std::string_view path) const {
    return settings_.contains(Json::json_pointer(path_pointer(path)));
}

void ImportDraft::add_rule(std::string name, Json rule) {
    for (auto& c : name)
        if (!proxy::is_token(std::string_view(&c, 1)) || c == '*') c = '-';
    if (name.size() > 40) name.resize(40);
    const auto is_taken = [&](const std::string& wanted) {
        return std::any_of(rules_.begin(), rules_.end(),
                           [&](const Json& other) { return other["name"] == wanted; });
    };
    auto unique = name;
    for (int i = 2; is_taken(unique); ++i) unique = name + "-" + std::to_string(i);
    Json named{{"name", unique}};
    for (const auto& [key, value] : rule.items()) named[key] = value;
    rules_.push_back(std::move(named));
}

void ImportDraft::edit_fields(const char* edits, const char* kind, std::string_view name,
                              std::string_view value) {
    auto& into = edits_[edits][kind];
    if (std::string_view(kind) == "remove") {
        if (std::find(into.begin(), into.end(), name) == into.end()) into.push_back(name);
    } else {
        into[std::string(name)] = value;
    }
}

void ImportDraft::remark(ImportRemark::Weight weight, const Directive& directive,
                         std::string_view why) {
    remarks_.push_back({weight, directive.place, shown(directive).append(": ").append(why)});
    listed_.insert(&directive);
}

void ImportDraft::warn(const Directive& directive, std::string_view why) {
    remark(ImportRemark::Weight::warning, directive, why);
}

void ImportDraft::warn(std::string_view why) {
    remarks_.push_back({ImportRemark::Weight::warning, {}, std::string(why)});
}

void ImportDraft::leave_out(const Directive& directive, std::string_view why) {
    remark(ImportRemark::Weight::left_out, directive, why);
}

bool holds_directives(std::string_view block) {
    return block == "http" || block == "server" || block == "location" || block == "if" ||
           block == "limit_except";
}

void ImportDraft::lose_block(const Directive& directive) {
    for (const auto& each : directive.block) {
        listed_.insert(&each);
        if (holds_directives(each.name)) lose_block(each);
    }
}

std::size_t ImportDraft::idle() const {
    return static_cast<std::size_t>(
        std::count_if(idle_.begin(), idle_.end(),
                      [&](const Directive* each) { return !listed_.contains(each); }));
}

std::size_t ImportDraft::warnings() const {
    return static_cast<std::size_t>(std::count_if(
        remarks_.begin(), remarks_.end(),
        [](const ImportRemark& remark) { return remark.weight == ImportRemark::Weight::warning; }));
}

Json ImportDraft::finish() const {
    auto all = settings_;
    auto rules = rules_;
    if (!edits_.empty()) {
        for (auto& rule : rules) merge_edits(rule, edits_);
        Json last{{"name", "others"}};
        merge_edits(last, edits_);
        rules.push_back(std::move(last));
    }
    if (!rules.empty()) all["rules"] = rules;
    Json out = Json::object();
    for (const auto section : kSectionOrder)
        if (all.contains(section)) out[std::string(section)] = all[std::string(section)];
    for (const auto& [key, value] : all.items())
        if (!out.contains(key)) out[key] = value;
    protect_dollars(out);
    return out;
}

std::string shown(const Directive& directive) {
    auto text = directive.name;
    if (!directive.words.empty()) text.append(" ").append(directive.rest(0));
    if (text.size() > kShownBytes) {
        text.resize(kShownBytes - 4);
        text.append(" ...");
    }
    return measure::printable(text);
}

std::optional<std::uint64_t> import_size(std::string_view number, std::string_view unit) {
    std::uint64_t count = 0;
    const auto* const end = number.data() + number.size();
    const auto [stop, error] = std::from_chars(number.data(), end, count);
    if (error != std::errc()) return std::nullopt;
    if (stop != end) {
        if (!unit.empty()) return std::nullopt;
        unit = std::string_view(stop, static_cast<std::size_t>(end - stop));
    }
    std::string lower;
    proxy::append_lower(lower, unit);
    if (lower.ends_with("bytes")) lower.resize(lower.size() - 5);
    if (lower.ends_with('b')) lower.pop_back();
    unsigned shift = 0;
    if (lower == "k")
        shift = 10;
    else if (lower == "m")
        shift = 20;
    else if (lower == "g")
        shift = 30;
    else if (lower == "t")
        shift = 40;
    else if (!lower.empty())
        return std::nullopt;
    if (count > (std::uint64_t{1} << 50) >> shift) return std::nullopt;
    return count << shift;
}

std::string import_size_text(std::uint64_t bytes) {
    return proxy::format_size(bytes);
}

std::optional<std::uint64_t> import_span(std::string_view text) {
    constexpr struct {
        std::string_view name;
        std::uint64_t ms;
    } kUnits[] = {{"ms", 1},
                  {"millisecond", 1},
                  {"s", 1000},
                  {"sec", 1000},
                  {"second", 1000},
                  {"m", 60'000},
                  {"min", 60'000},
                  {"minute", 60'000},
                  {"h", 3'600'000},
                  {"hour", 3'600'000},
                  {"d", 86'400'000},
                  {"day", 86'400'000},
                  {"w", 604'800'000},
                  {"week", 604'800'000},
                  {"fortnight", 1'209'600'000},
                  {"month", 2'592'000'000},
                  {"M", 2'592'000'000},
                  {"y", 31'536'000'000},
                  {"year", 31'536'000'000},
                  {"decade", 315'360'000'000}};
    std::uint64_t sum = 0;
    bool any = false;
    while (!text.empty()) {
        if (text.front() == ' ') {
            text.remove_prefix(1);
            continue;
        }
        double count = 0;
        const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count,
                                                   std::chars_format::fixed);
        if (error != std::errc() || !(count >= 0)) return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
        while (text.starts_with(' ')) text.remove_prefix(1);
        std::size_t letters = 0;
        while (letters < text.size() && ((text[letters] >= 'a' && text[letters] <= 'z') ||
                                         (text[letters] >= 'A' && text[letters] <= 'Z')))
            ++letters;
        auto unit = text.substr(0, letters);
        text.remove_prefix(letters);
        if (unit.empty() && !text.empty()) return std::nullopt;  // `1.2.3`
        if (unit.size() > 2 && unit.ends_with('s')) unit.remove_suffix(1);
        const auto* const found = std::find_if(
            std::begin(kUnits), std::end(kUnits),
            [&](const auto& each) { return each.name == (unit.empty() ? "s" : unit); });
        if (found == std::end(kUnits)) return std::nullopt;
        const auto ms = count * static_cast<double>(found->ms);
        sum = ms >= static_cast<double>(kTenYearsMs)
                  ? kTenYearsMs
                  : std::min(kTenYearsMs, sum + static_cast<std::uint64_t>(ms));
        any = true;
    }
    return any ? std::optional(sum) : std::nullopt;
}

std::string import_span_text(std::uint64_t milliseconds) {
    constexpr struct {
        const char* name;
        std::uint64_t ms;
    } kUnits[] = {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}};
    for (const auto& unit : kUnits)
        if (milliseconds > 0 && milliseconds % unit.ms == 0)
            return std::to_string(milliseconds / unit.ms) + unit.name;
    return std::to_string(milliseconds) + "ms";
}

}  // namespace app
