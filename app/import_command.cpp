#include "app/import_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "app/commands.hpp"
#include "app/fail.hpp"
#include "app/new_file.hpp"
#include "measure/report/numbers.hpp"
#include "measure/trace/printable.hpp"
#include "proxy/config/parse_config.hpp"

namespace app {
namespace {

void list_remarks(const ImportDraft& draft) {
    using Weight = ImportRemark::Weight;
    for (const auto weight : {Weight::warning, Weight::left_out})
        for (const auto& remark : draft.remarks()) {
            if (remark.weight != weight) continue;
            fmt::print(stderr, "{}{}{}{}\n", weight == Weight::warning ? "WARNING " : "",
                       remark.place, remark.place.empty() ? "" : ": ",
                       measure::printable(remark.text));
        }
    const auto taken =
        draft.directives() - std::min(draft.directives(), draft.idle() + draft.listed());
    fmt::print(stderr,
               "{}: {} taken over, {} without need of a setting, {} not taken over as they are "
               "(see above); "
               "{}\n",
               measure::amount(draft.directives(), "directive"), taken, draft.idle(),
               draft.listed(), measure::amount(draft.warnings(), "warning"));
}

}  // namespace

Imported import_file(const std::string& file, std::optional<SourceFormat> format,
                     const SourceFiles& files) {
    Imported out;
    const auto source = read_source(file, format, files);
    out.error = source.error;
    out.has_format = source.has_format;
    if (!out.error.empty()) return out;
    if (*format == SourceFormat::squid)
        import_squid(
            source.directives,
            [&](const std::string& name) { return read_beside(file, name, files); }, out.draft);
    else
        import_nginx(source.directives, out.draft);
    out.json =
        out.draft.finish().dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) +
        "\n";
    return out;
}

int import_command(const ImportCommand& command) {
    std::optional<SourceFormat> format;
    if (!command.format.empty())
        format = command.format == "squid" ? SourceFormat::squid : SourceFormat::nginx;
    const auto done = import_file(command.file, format, files_here());
    if (!done.error.empty()) return fail(done.has_format ? kFailed : kUsage, "{}", done.error);
    list_remarks(done.draft);
    const auto read = proxy::parse_config(done.json);
    if (!read.config) {
        std::fputs(done.json.c_str(), stderr);
        return fail(kFailed,
                    "the translation above is no valid configuration, which is a fault of this "
                    "command: {}",
                    proxy::describe(read.errors));
    }
    if (command.output.empty()) {
        fmt::print("{}", done.json);
    } else {
        try {
            write_new(command.output, done.json, 0600);  // may hold a password of a parent
        } catch (const std::runtime_error& error) {
            return fail(kFailed, "{}", error.what());
        }
        fmt::print("{}\n", measure::printable(command.output));
    }
    return command.strict && done.draft.warnings() > 0 ? kFailed : kOk;
}

}  // namespace app
