#pragma once

#include <string>

#include "app/import/import.hpp"

namespace app {

/// Options of `hearsay import`.
struct ImportCommand {
    std::string file;
    std::string format;  // squid or nginx; empty: by content
    std::string output;  // empty: standard output
    bool strict = false;
};

/// A configuration that was translated.
struct Imported {
    ImportDraft draft;
    std::string json;        // with a newline at its end
    std::string error;       // the source cannot be read
    bool has_format = true;  // false, with an error: the source has no known format
};

/// Translates a file and what it includes.
Imported import_file(const std::string& file, std::optional<SourceFormat> format,
                     const SourceFiles& files);

/// `hearsay import`: writes the configuration that a squid.conf or a configuration of nginx asks
/// for, and lists on standard error what it could not take over, warnings first. Existing files
/// stay. Returns the exit code.
int import_command(const ImportCommand& command);

}  // namespace app
