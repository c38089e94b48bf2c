#pragma once

#include <span>
#include <string_view>

namespace proxy {

/// A file of proxy/admin/dashboard/, which the build puts into the program.
struct DashboardFile {
    std::string_view name;  // without the folder
    std::string_view content;
    std::string_view etag;  // strong, of the content, with its quotes
};

/// All of them. embed_dashboard.cmake writes the table, and limits their sum to 200 KB. Any thread.
std::span<const DashboardFile> dashboard_files();

}  // namespace proxy
