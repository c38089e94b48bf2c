#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/ca_command.hpp"
#include "app/demo_command.hpp"
#include "app/disk_command.hpp"
#include "app/exit_codes.hpp"
#include "app/help_command.hpp"
#include "app/init_command.hpp"
#include "app/order_commands.hpp"
#include "app/origin_command.hpp"
#include "app/page_file.hpp"
#include "app/query_commands.hpp"
#include "app/replay_command.hpp"
#include "app/run_command.hpp"
#include "app/simulate_command.hpp"
#include "app/top_command.hpp"
#include "app/version.hpp"

namespace {

using namespace app;

/// Adds all sub-commands, in the order of the help.
std::vector<Command> add_commands(CLI::App& app, const std::string& written,
                                  proxy::BlockedSignals* blocked) {
    return {add_run(app, blocked),
            add_check(app),
            add_init(app),
            add_ca(app),
            add_demo(app, written),
            add_replay(app, written),
            add_simulate(app, written),
            add_origin(app),
            add_status(app),
            add_top(app),
            add_report(app),
            add_purge(app),
            add_reload(app),
            add_drain(app),
            add_reopen_logs(app),
            add_disk(app),
            add_healthcheck(app),
            add_explain(app),
            add_version(app),
            add_help(app)};
}

/// Returns the exit code. `blocked` is set for the command `run`.
int run_command_line(int argc, char** argv, proxy::BlockedSignals* blocked) {
    CLI::App app("hearsay: HTTP caches that share their content", "hearsay");
    app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
        return "hearsay: " + CLI::FailureMessage::simple(failed, error);
    });
    app.require_subcommand(0, 1);  // sub-commands are optional here: the parser would report a
                                   // missing one before an unknown option
    app.set_version_flag("--version", [] { return "hearsay " + version_text(); });
    const auto commands = add_commands(app, shell_text(argc, argv), blocked);

    const auto is_meant = [&](const CLI::App* command) { return command->check_name(argv[1]); };
    if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(is_meant).empty())
        return no_command(app, argv[1]);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const auto code = app.exit(error) == 0 ? kOk : kUsage;
        if (dynamic_cast<const CLI::ExtrasError*>(&error))
            propose_option(app, {argv + 1, argv + argc});
        return code;
    }
    for (const auto& command : commands)
        if (command.options->parsed()) return command.run();
    std::fputs("hearsay: give a command; see hearsay --help\n", stderr);
    return kUsage;
}

/// Opens /dev/null for closed standard streams; otherwise a socket would get their numbers, and the
/// output. Standard output opens for reading, so that writes still fail.
void hold_standard_streams() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(fd, F_GETFD) < 0)  // open() takes the lowest free number, which is this one
            (void)::open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR);
}

/// Flushes standard output, and reports an error if that fails.
int checked_output(int code) {
    const bool flushed = std::fflush(stdout) == 0;
    if (flushed && std::ferror(stdout) == 0) return code;
    // errno holds no cause if an earlier write failed.
    std::fprintf(stderr, "hearsay: cannot write to standard output%s%s\n", flushed ? "" : ": ",
                 flushed ? "" : std::strerror(errno));
    return code == kOk ? kFailed : code;
}

}  // namespace

int main(int argc, char** argv) {
    // First of all, as a HUP before the node's handlers would end the process.
    std::optional<proxy::BlockedSignals> blocked;
    const auto at = argc > 1 && argv[1] == std::string_view("--") ? 2 : 1;
    if (argc > at && argv[at] == std::string_view("run")) blocked.emplace();
    hold_standard_streams();
    try {
        return checked_output(run_command_line(argc, argv, blocked ? &*blocked : nullptr));
    } catch (const std::system_error& error) {  // thrown by fmt::print if an output fails
        std::fprintf(stderr, "hearsay: %s\n", error.what());
        return kFailed;
    }
}
