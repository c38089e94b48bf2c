#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace app::test {

/// The text beside a row of a reference page: docs/reference/notes/*.md. A note is an item of a
/// list, `- **name**: text`, under a heading.
struct Note {
    std::string section, name, text;
};
std::vector<Note> read_notes(const std::string& page);

/// A page that is made from the tables in the code and from its notes, and the names that are in
/// one of both alone.
struct ReferencePage {
    std::string text;
    std::vector<std::string> without_note, without_row;
};
/// docs/reference/settings.md, of proxy::setting_table().
ReferencePage settings_page(const std::string& notes);
/// docs/reference/metrics.md, of what /metrics shows.
ReferencePage metrics_page(const std::string& notes);
/// docs/reference/status.md, of what /api/v1/status shows.
ReferencePage status_page(const std::string& notes);
/// docs/reference/cli.md, of what `program help` prints.
ReferencePage cli_page(const std::string& program, const std::string& notes);

/// configs/hearsay.schema.json, of proxy::setting_table().
std::string config_schema();

}  // namespace app::test
