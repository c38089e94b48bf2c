// The page that replay, demo and simulate write with --html.

#include "app/page_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "measure/report/report_html.hpp"
#include "tests/app/run_program.hpp"
#include "tests/measure/markup.hpp"

namespace app {
namespace page_file_test {

using measure::TemporaryDirectory;
using test::content;
using testing::HasSubstr;
using testing::Not;

TEST(PageFile, KeepsAnEarlierPageUntilItWrites) {
    const TemporaryDirectory directory("hearsay-test-");
    const auto path = directory.path() + "/page";
    std::ofstream(path) << "an earlier page, which is longer";
    { const PageFile unused(path); }
    EXPECT_EQ(content(path), "an earlier page, which is longer");
    PageFile(path).write("short");
    EXPECT_EQ(content(path), "short");
}

TEST(PageFile, LeavesNoEmptyFile) {
    const TemporaryDirectory directory("hearsay-test-");
    const auto path = directory.path() + "/page";
    {
        const PageFile unused(path);
        EXPECT_TRUE(std::filesystem::exists(path));
    }
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_FALSE(PageFile("").is_wanted());
}

TEST(PageFile, RefusesAPathAtOnce) {
    EXPECT_THROW(PageFile("/nowhere/page"), std::runtime_error);
    EXPECT_THROW(PageFile("/tmp"), std::runtime_error);
    PageFile full("/dev/full");
    EXPECT_THROW(full.write("page"), std::runtime_error);
}

TEST(ShellText, IsWhatAShellTakes) {
    const char* const words[] = {"/usr/bin/hearsay", "demo", "--html", "a b", "it's", "", "$(x)"};
    EXPECT_EQ(shell_text(7, words), "hearsay demo --html 'a b' 'it'\\''s' '' '$(x)'");
    EXPECT_EQ(shell_text(0, words), "");
}

TEST(Html, OfADemoShowsTheRun) {
    const TemporaryDirectory directory("hearsay-test-");
    const auto path = directory.path() + "/<b>page.html";
    const auto ended =
        test::run_program({"demo", "--requests", "2000", "--seed", "5", "--html", path});
    ASSERT_EQ(ended.how, "exit code 0") << ended.said;
    const auto page = content(path);
    EXPECT_EQ(measure::unbalanced(page), "");
    EXPECT_LE(page.size(), measure::kMaxPageBytes);
    EXPECT_THAT(page, HasSubstr("hearsay demo --requests 2000 --seed 5 --html"));
    EXPECT_THAT(page, Not(HasSubstr("<b>")));
    EXPECT_THAT(page, HasSubstr("<dd>5</dd>"));
    EXPECT_THAT(page, HasSubstr("<h3>Who gave whom</h3>"));
    EXPECT_THAT(page, HasSubstr("<h3>Latency by outcome</h3>"));
    // A line of the table that the command printed.
    const auto found = ended.said.find("found  ");
    ASSERT_NE(found, ended.said.npos);
    EXPECT_THAT(page, HasSubstr(ended.said.substr(found, ended.said.find('\n', found) - found)));
    EXPECT_THAT(page, HasSubstr("<h3>Hit rates over the course of the run</h3>"));
}

TEST(Html, WithAWrongPathEndsBeforeTheRun) {
    const std::string path = "/nowhere/page.html";
    for (const auto& words :
         {std::vector<std::string>{"demo"},
          {"simulate", "--trace", "/nowhere/log"},
          {"replay", "--trace", "/nowhere/log", "--proxy", "http://127.0.0.1:1"}}) {
        auto all = words;
        all.insert(all.end(), {"--html", path});
        const auto ended = test::run_program(all);
        EXPECT_EQ(ended.how, "exit code 1") << words[0];
        EXPECT_THAT(ended.said, HasSubstr("cannot write the page " + path + ": No such file"));
        EXPECT_THAT(ended.said, Not(HasSubstr("starting"))) << words[0];
        EXPECT_THAT(ended.said, Not(HasSubstr("/nowhere/log"))) << "the log is not read";
    }
}

}  // namespace page_file_test
}  // namespace app
