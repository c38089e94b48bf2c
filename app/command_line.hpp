#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "app/admin_port.hpp"
#include "app/command.hpp"
#include "app/exit_codes.hpp"
#include "measure/trace/workload.hpp"

/// Building blocks for the options of sub-commands.
namespace app {

/// Validators that keep their conditions out of the help.
template <typename Number>
CLI::Validator within(Number least, Number most) {
    return CLI::Range(least, most).description("");
}
inline CLI::Validator number_that(const char* what, bool (*holds)(double)) {
    return {[=](std::string& text) {
                double number = 0;
                if (CLI::detail::lexical_cast(text, number) && holds(number)) return std::string();
                return text + " is not a number " + what;
            },
            ""};
}
/// Refuses signs, which CLI11 would accept and wrap around. `least`: 0 or 1.
inline CLI::Validator whole_number(int least = 0) {
    return {[least](std::string& text) {
                const bool digits =
                    !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
                const bool enough = least == 0 || text.find_first_not_of('0') != std::string::npos;
                return digits && enough
                           ? std::string()
                           : text + " is not a whole number from " + std::to_string(least) + " on";
            },
            ""};
}
inline CLI::Validator above_zero() {
    return number_that("above 0", [](double number) { return number > 0; });
}
inline CLI::Validator not_negative() {
    return number_that("from 0 on", [](double number) { return number >= 0; });
}

/// An option whose help shows `kind` instead of a C++ type.
template <typename Value>
CLI::Option* option(CLI::App& command, const char* name, const char* kind, Value& value,
                    const char* text) {
    return command.add_option(name, value, text)->type_name(kind);
}

/// An option with a text that becomes a value by `parse`, which returns nothing for any other text
/// than `what` describes.
template <typename Value, typename Parse>
CLI::Option* parsed(CLI::App& command, const char* name, const char* kind, Value& value,
                    Parse parse, std::string what, const char* text) {
    const auto take = [name, &value, parse, what](const std::string& words) {
        const auto read = parse(words);
        if (!read) throw CLI::ValidationError(name, words + " is not " + what);
        value = static_cast<Value>(*read);
    };
    return command.add_option_function<std::string>(name, take, text)->type_name(kind);
}
/// The same for a list separated by commas.
template <typename Value, typename Parse>
CLI::Option* parsed_list(CLI::App& command, const char* name, const char* kind,
                         std::vector<Value>& values, Parse parse, std::string what,
                         const char* text) {
    const auto take = [name, &values, parse, what](const std::vector<std::string>& all) {
        for (const auto& words : all) {
            const auto read = parse(words);
            if (!read) throw CLI::ValidationError(name, words + " is not " + what);
            values.push_back(*read);
        }
    };
    return command.add_option_function<std::vector<std::string>>(name, take, text)
        ->type_name(kind)
        ->delimiter(',');
}

inline constexpr const char* kHtmlHelp = "Also writes a page with charts to this file";

/// The address, or the configuration, of the one node that a command asks. `name`: of the option.
void add_node_options(CLI::App& command, const char* name, NodeChoice& node);
/// The size and seed of a made-up workload. Comes after `--trace`, which excludes them.
void add_workload_options(CLI::App& command, measure::WorkloadOptions& workload);

/// Reports a missing argument. The commands check it themselves, because the parser would report it
/// before an unknown option.
int needs(const CLI::App& command, const char* what);

}  // namespace app
