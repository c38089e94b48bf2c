#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/import/directive.hpp"

namespace app {

/// The files that an import may read.
struct SourceFiles {
    /// The content of a file of at most `most` bytes, or nothing.
    std::function<std::optional<std::string>(const std::string& path, std::size_t most)> read;
    /// The files that a pattern names, sorted.
    std::function<std::vector<std::string>(const std::string& pattern)> find;
};

/// Those of this machine.
SourceFiles files_here();

enum class SourceFormat : std::uint8_t { squid, nginx };

/// The format that the text of a configuration has, by its directives; none: it has no known one.
std::optional<SourceFormat> guess_format(std::string_view text);

/// Reads `path` with everything that it includes: at most 8 files inside each other, 256 files and
/// 4 MiB in all. The name of an included file is first tried as it stands, then below the folder
/// of `path`, also without /etc/squid/ or /etc/nginx/. A file that nobody can find is an error.
/// Without a `format` that of the file is set; it stays unset, with an error, if nobody knows it.
Lexed read_source(const std::string& path, std::optional<SourceFormat>& format,
                  const SourceFiles& files);

/// The same for a text with the given path, for a second file of values and the like.
std::optional<std::string> read_beside(const std::string& path, const std::string& name,
                                       const SourceFiles& files);

}  // namespace app
