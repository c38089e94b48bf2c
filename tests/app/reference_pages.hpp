#pragma once

#include <string>
#include <vector>

namespace app::test {

// The pages of docs/reference/ that are partly generated. Each function takes a page and returns it
// with the generated parts made anew: those between `<!-- generated: NAME -->` and `<!-- end -->`,
// and the columns named below. Everything else is written by hand.

/// A page, and the names that only the code or only the page has.
struct ReferencePage {
    std::string text;
    std::vector<std::string> missing, unknown;  // in the page, to the program
};
/// The tables come from proxy::setting_table().
std::string settings_page(const std::string& page);
/// The columns of types and labels come from the families of /metrics.
ReferencePage metrics_page(const std::string& page);
/// Written by hand, one row for each field of /api/v1/status.
ReferencePage status_page(const std::string& page);
/// The output of `program help COMMAND`. Below it stands an item for each option.
ReferencePage cli_page(const std::string& program, const std::string& page);

/// configs/hearsay.schema.json, from proxy::setting_table().
std::string config_schema();

}  // namespace app::test
