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

/// A page made from the tables in the code and its notes, and the names found in only one of both.
struct ReferencePage {
    std::string text;
    std::vector<std::string> without_note, without_row;
};
/// docs/reference/settings.md, from proxy::setting_table().
ReferencePage settings_page(const std::string& notes);
/// docs/reference/metrics.md, from the families of /metrics.
ReferencePage metrics_page(const std::string& notes);
/// docs/reference/status.md, from the fields of /api/v1/status.
ReferencePage status_page(const std::string& notes);
/// docs/reference/cli.md, from the output of `program help`.
ReferencePage cli_page(const std::string& program, const std::string& notes);

/// configs/hearsay.schema.json, from proxy::setting_table().
std::string config_schema();

}  // namespace app::test
