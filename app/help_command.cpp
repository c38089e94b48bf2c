#include "app/help_command.hpp"

#include <algorithm>
#include <cstdio>

#include "app/command_line.hpp"
#include "app/version.hpp"
#include "proxy/config/config_values.hpp"

namespace app {
namespace {

int run_help(const CLI::App& app, const std::string& name) {
    const auto is_meant = [&](const CLI::App* command) { return command->check_name(name); };
    const auto found =
        name.empty() ? std::vector<const CLI::App*>{} : app.get_subcommands(is_meant);
    if (!name.empty() && found.empty()) return no_command(app, name);
    // App::help() would print the help of the sub-command in use, which is this one.
    const auto text = found.empty() ? app.get_formatter()->make_help(&app, app.get_name(),
                                                                     CLI::AppFormatMode::Normal)
                                    : found.front()->help(app.get_name());
    std::fputs(text.c_str(), stdout);
    if (!text.ends_with('\n')) std::fputs("\n", stdout);
    return kOk;
}

}  // namespace

Command add_version(CLI::App& app) {
    return {app.add_subcommand("version",
                               "Prints the version, with type, compiler and commit of the build"),
            [] {
                std::printf("hearsay %s\n", version_text().c_str());
                return kOk;
            }};
}

Command add_help(CLI::App& app) {
    auto& command = *app.add_subcommand("help", "Prints the help of a command");
    const auto name = std::make_shared<std::string>();
    option(command, "command", "COMMAND", *name,
           "The command; the default is the list of all commands");
    return {&command, [name, &app] { return run_help(app, *name); }};
}

int no_command(const CLI::App& app, const std::string& name) {
    std::vector<std::string> known;
    for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
        known.push_back(command->get_name());
    const std::string near(proxy::nearest_name(name, known));
    std::fprintf(stderr, "hearsay: no command '%s'; %s\n", name.c_str(),
                 near.empty() ? "see hearsay --help" : ("did you mean '" + near + "'?").c_str());
    return kUsage;
}

void propose_option(const CLI::App& app, const std::vector<std::string>& words) {
    std::vector<std::string> known;
    const auto is_meant = [&](const CLI::App* command) { return command->check_name(words[0]); };
    const auto given = app.get_subcommands(is_meant);
    for (const auto* option : (given.empty() ? &app : given.front())->get_options())
        for (const auto& name : option->get_lnames()) known.push_back(name);
    if (!given.empty() && given.front()->get_option_no_throw("--trace") != nullptr)
        for (const auto& word : given.front()->remaining())
            if (!word.starts_with("-"))
                std::fprintf(stderr, "A request log is given as --trace %s\n", word.c_str());
    for (const auto& word : words) {
        if (!word.starts_with("--")) continue;
        const auto name = word.substr(2, word.find('=') - 2);
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        const std::string near(proxy::nearest_name(name, known));
        if (!near.empty())
            std::fprintf(stderr, "Did you mean --%s in place of --%s?\n", near.c_str(),
                         name.c_str());
    }
}

}  // namespace app
