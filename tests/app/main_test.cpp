// The real program's command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/run_program.hpp"

namespace app {
namespace main_test {

using test::Ended;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

Ended run(std::vector<std::string> arguments) {
    return test::run_program(std::move(arguments));
}

TEST(CommandLine, NamesTheOptionThatItDoesNotKnow) {
    for (const auto& arguments : {std::vector<std::string>{"-x"}, {"--nothing"}, {"run", "-x"}}) {
        const auto ended = run(arguments);
        EXPECT_EQ(ended.how, "exit code 2");
        EXPECT_THAT(ended.said, HasSubstr(arguments.back()));
        EXPECT_THAT(ended.said, Not(HasSubstr("ubcommand")));
    }
}

TEST(CommandLine, AsksForACommand) {
    const auto ended = run({});
    EXPECT_EQ(ended.how, "exit code 2");
    EXPECT_THAT(ended.said, HasSubstr("give a command"));
    EXPECT_EQ(run({"--version"}).how, "exit code 0");
}

TEST(CommandLine, NamesItsBuild) {
    for (const auto* how : {"--version", "version"})
        EXPECT_THAT(run({how}).said,
                    ContainsRegex("^hearsay [0-9.]+ \\([A-Za-z]+.*, [A-Za-z]+ [0-9.]+.*\\)\n$"));
}

TEST(CommandLine, GuessesTheOptionThatWasMeant) {
    EXPECT_THAT(run({"demo", "--dsk", "1GiB"}).said, HasSubstr("Did you mean --disk in place of"));
    EXPECT_THAT(run({"check", "--strct=1", "x"}).said, HasSubstr("Did you mean --strict in"));
    EXPECT_THAT(run({"--nothing"}).said, Not(HasSubstr("Did you mean")));
    EXPECT_THAT(run({"simulate", "log.txt"}).said,
                HasSubstr("A request log is given as --trace log.txt\n"));
    EXPECT_THAT(run({"status", "a", "--nothing"}).said, Not(HasSubstr("--trace")));
}

TEST(CommandLine, GuessesTheCommandThatWasMeant) {
    EXPECT_THAT(run({"stauts"}).said, HasSubstr("did you mean 'status'?"));
    EXPECT_THAT(run({"help", "replya"}).said, HasSubstr("did you mean 'replay'?"));
    EXPECT_THAT(run({"xyzzy"}).said, HasSubstr("no command 'xyzzy'; see hearsay --help"));
}

TEST(CommandLine, RefusesWhatContradictsItself) {
    using Arguments = std::vector<std::string>;
    const auto refused = [](const Arguments& arguments, const char* names) {
        const auto ended = run(arguments);
        EXPECT_EQ(ended.how, "exit code 2") << ended.said;
        EXPECT_THAT(ended.said, HasSubstr(names));
    };
    refused({"run", "a.json", "--config", "b.json"}, "--config");
    refused({"status", "--at", ""}, "--at");
    refused({"demo", "--trace", "x", "--requests", "5"}, "--requests");
    refused({"demo", "--trace", "x", "--seed", "5"}, "--seed");
    refused({"origin", "--listen", "zz"}, "'zz' is no address");
    refused({"replay", "--trace", "x", "--limit", "0", "--proxy", "127.0.0.1:1"}, "--limit");
}

TEST(CommandLine, LooksForTheAdminPortWhereNoneIsGiven) {
    const auto ended = run({"status", "127.63.1.1"});
    EXPECT_EQ(ended.how, "exit code 1");
    EXPECT_THAT(ended.said, HasSubstr("no node answers at http://127.63.1.1:9128"));
}

TEST(CommandLine, FailsWhenItsOutputDoesNotArrive) {
    const std::vector<std::string> simulate{"simulate", "--synthetic", "--requests", "100",
                                            "--scheme", "icp",         "--quiet"};
    for (const auto& arguments : {std::vector<std::string>{"version"},
                                  {"--version"},
                                  {"--help"},
                                  {"help", "run"},
                                  simulate})
        EXPECT_EQ(test::end_of_program(arguments, "/dev/full"), "exit code 1") << arguments.front();
}

TEST(CommandLine, NeedsAUrlToExplain) {
    const auto ended = run({"explain"});
    EXPECT_EQ(ended.how, "exit code 2");
    EXPECT_THAT(ended.said, HasSubstr("explain needs a URL"));
    EXPECT_THAT(run({"help", "explain"}).said, HasSubstr("--at ADDRESS"));
}

TEST(CommandLine, SaysWhatTheColumnsOfTheStatusMean) {
    EXPECT_THAT(run({"help", "status"}).said, HasSubstr("bits/obj"));
}

}  // namespace main_test
}  // namespace app
