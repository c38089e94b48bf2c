// Configurations of other programs: `hearsay import`.

#include "app/import/import.hpp"
#include "app/import/lexers.hpp"
#include "app/import/regex_globs.hpp"
#include "proxy/config/parse_config.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <string>

namespace {

/// Every directive has a name and a place in the text.
void check_directives(const std::vector<app::Directive>& directives, std::size_t lines,
                      std::size_t depth) {
    FUZZ_CHECK(depth <= 32);
    for (const auto& each : directives) {
        FUZZ_CHECK(each.place.starts_with("f:"));
        const auto line = std::stoul(each.place.substr(2));
        FUZZ_CHECK(line >= 1 && line <= lines);
        check_directives(each.block, lines, depth + 1);
    }
}

std::size_t lines_of(std::string_view text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
}

/// The translation is JSON that lets nobody more in than it says; settings that this program has
/// not are its only possible errors.
void check_draft(const app::ImportDraft& draft) {
    FUZZ_CHECK(draft.listed() + draft.idle() <= draft.directives() + draft.remarks().size());
    const auto text =
        draft.finish().dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
    FUZZ_CHECK(nlohmann::ordered_json::accept(text));
}

}  // namespace

int fuzz_squid_conf(const std::uint8_t* data, std::size_t size) {
    const auto text = as_text(data, size);
    const auto read = app::lex_squid(text, "f");
    FUZZ_CHECK(read.error.empty());
    check_directives(read.directives, lines_of(text), 0);
    app::ImportDraft draft;
    app::import_squid(
        read.directives, [](const std::string&) { return std::optional<std::string>(); }, draft);
    check_draft(draft);
    // Each word as an expression, too.
    for (const auto& directive : read.directives)
        for (const auto& word : directive.words)
            if (const auto globs = app::globs_of_regex(word.text))
                for (const auto& glob : globs->globs)
                    if (const auto part = app::split_url_glob(glob))
                        FUZZ_CHECK(part->path.empty() || app::is_rule_path(part->path));
    return 0;
}

int fuzz_nginx_conf(const std::uint8_t* data, std::size_t size) {
    const auto text = as_text(data, size);
    const auto read = app::lex_nginx(text, "f");
    if (!read.error.empty()) {
        FUZZ_CHECK(read.error.starts_with("f:"));
        return 0;
    }
    check_directives(read.directives, lines_of(text), 0);
    app::ImportDraft draft;
    app::import_nginx(read.directives, draft);
    check_draft(draft);
    return 0;
}
