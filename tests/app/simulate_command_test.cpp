#include "app/simulate_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/run_program.hpp"
#include "tests/measure/temporary_file.hpp"

namespace app {
namespace simulate_command_test {

using measure::ChildProcess;
using measure::TemporaryDirectory;
using measure::TemporaryFile;
using test::Ended;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Ended run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "simulate");
    return test::run_program(std::move(arguments));
}

/// Clients that request the same ten objects, one client after the other.
std::string small_log(int requests = 40) {
    std::string out;
    for (int i = 0; i < requests; ++i)
        out += std::to_string(i * 1000) + '\t' + std::to_string(i / 10 + 1) + "\tGET\thttp://a/" +
               std::to_string(i % 10) + "\t200\t1000\n";
    return out;
}

TEST(Simulate, SaysWhatSharingDoesForALog) {
    const TemporaryFile log(small_log(100));
    const auto ended = run(
        {"--trace", log.path(), "--scheme", "icp", "--proxies", "4", "--cache", "64MiB", "--json"});
    EXPECT_EQ(ended.how, "exit code 0") << ended.said;
    const auto json = nlohmann::json::parse(ended.said);
    const auto& row = json["tables"][0]["rows"][0];
    EXPECT_EQ(row["config"]["cache_bytes"], 64 << 20);
    EXPECT_EQ(row["counts"]["requests"], 100);
    EXPECT_EQ(row["hit_ratio"], 0.9) << "each object came from the origin once";
}

TEST(Simulate, DoesWithAnotherSeedWhatChanceWouldDo) {
    const TemporaryFile log(small_log());
    const auto said = [&](const char* seed) {
        return run({"--trace", log.path(), "--scheme", "summary", "--proxies", "4", "--cache",
                    "64MiB", "--json", "--loss", "50%", "--jitter", "1s", "--seed", seed})
            .said;
    };
    EXPECT_EQ(said("1"), said("1"));
    EXPECT_NE(said("1"), said("2"));
}

TEST(Simulate, WarnsOfALogThatShowsLittle) {
    const auto line = [](int number, int url) {
        return std::to_string(number * 1000) + "\t1\tGET\thttp://a/" + std::to_string(url) +
               "\t200\t1000\n";
    };
    std::string few, once;
    for (int i = 0; i < 20; ++i) few += line(i, i % 10);
    for (int i = 0; i < 200; ++i) once += line(i, i);
    const TemporaryFile few_log(few), once_log(once), enough(small_log(100));
    const auto said = [](const TemporaryFile& log) {
        return run({"--trace", log.path(), "--scheme", "icp", "--proxies", "1", "--cache", "64MiB"})
            .said;
    };
    EXPECT_THAT(said(few_log), HasSubstr("the figures of 20 requests say little"));
    EXPECT_THAT(said(once_log), HasSubstr("no URL comes twice, so no cache has a hit"));
    EXPECT_THAT(said(enough), Not(HasSubstr("say little")));
}

TEST(Simulate, RefusesWhatItCannotDo) {
    EXPECT_THAT(run({}).said, HasSubstr("needs --trace FILE or --synthetic"));
    for (const auto& arguments : std::vector<std::vector<std::string>>{
             {},
             {"--trace", "a", "--synthetic"},
             {"--synthetic", "--cache", "much"},
             {"--synthetic", "--proxies", "0"},
             {"--synthetic", "--scheme", "carp"},
             {"--synthetic", "--false-hits", "0"},
             {"--synthetic", "--changed", "0"},
             {"--synthetic", "--warm-up", "1"},
             {"--synthetic", "--loss", "100%"},
             {"--synthetic", "--seed", "-1"},
             {"--trace", "a", "--limit", "-1"},
             {"--trace", "a", "--limit", "0"},
             {"--trace", "a", "--clients", "5"},
             {"--synthetic", "--site", "http://a"},
             {"--synthetic", "--load", "12"},
             {"--synthetic", "--scheme", "summary", "--load", "16"},
             {"--synthetic", "--scheme", "paper_bloom", "--load", "1"},
             {"--synthetic", "--changes", "10%"},
             {"--synthetic", "--partition", "1s-2s:4", "--proxies", "4"},
             {"--synthetic", "--tiers", "--fresh-for", "1m"},
             {"--synthetic", "--paper"},
             {"--synthetic", "--scheme", "none", "--kind", "quotient"},
             {"--synthetic", "--proxies", "100", "--jitter", "1ms"},
             {"--synthetic", "--partition", "10s"},
             {"--synthetic", "--duration", "1000d"},
             {"--synthetic", "--tiers", "--proxies", "4"},
             {"--synthetic", "--tiers", "--replacement", "lru"},
             {"--synthetic", "--tiers", "--memory", "none"},
             {"--synthetic", "--memory", "5%"},
             {"--synthetic", "--tables"},
             {"--synthetic", "--scheme", "icp", "--advise"}})
        EXPECT_EQ(run(arguments).how, "exit code 2") << testing::PrintToString(arguments);
    const auto ended = run({"--synthetic", "--cache", "5%,much"});
    EXPECT_THAT(ended.said, HasSubstr("--cache: much is not a size (64MiB) or a part (10%)"));
    EXPECT_EQ(run({"--trace", "/nowhere/log"}).how, "exit code 1");
    const auto late = run({"--synthetic", "--requests", "5000", "--restart", "10s:0"});
    EXPECT_EQ(late.how, "exit code 2");
    EXPECT_EQ(late.said,
              "hearsay: the restart at 10s never comes: the requests end 5 s after the first\n");
    const auto nobody = run({"--synthetic", "--restart", "1s:99", "--proxies", "4"});
    EXPECT_EQ(nobody.how, "exit code 2");
    EXPECT_EQ(nobody.said, "hearsay: proxy 99 cannot restart: there are 4, and the first is 0\n");
    const auto unnamed = run({"--synthetic", "--restart", "1s:99", "--requests", "10"});
    EXPECT_EQ(unnamed.how, "exit code 2") << "the log says how many";
}

TEST(Simulate, SaysWhatItWouldTakeInstead) {
    const auto said = [](const char* option, const char* value) {
        return run({"--synthetic", "--requests", "100", option, value}).said;
    };
    EXPECT_THAT(said("--scheme", "foo"),
                HasSubstr("--scheme: foo is not one of none, icp, squid_"));
    EXPECT_THAT(said("--kind", "foo"),
                HasSubstr("foo is not one of counting_bloom, quotient, cuckoo\n"));
    EXPECT_THAT(said("--copy", "foo"), HasSubstr("foo is not one of always, while_room, second_"));
    EXPECT_THAT(said("--replacement", "foo"),
                HasSubstr("foo is not one of s3_fifo, by_value, sieve, w_tiny"));
    EXPECT_THAT(said("--delay", "5"), HasSubstr("5 is not a time (250ms, 10s, 2h)"));
    EXPECT_EQ(said("--partition", "20s-10s:2"),
              "hearsay: a partition from 20s to 10s ends before it begins\n");
    EXPECT_THAT(run({"--trace", "a", "--limit", "0"}).said,
                HasSubstr("hearsay: --limit: 0 is not a whole number from 1 on"));
}

TEST(Simulate, SaysOnceThatItsOutputTakesNothing) {
    const TemporaryDirectory directory("hearsay-test-");
    const auto log = directory.path() + "/log";
    ChildProcess child({"/bin/sh", "-c",
                        test::program() + " simulate --synthetic --requests 100 --scheme icp "
                                          "--quiet > /dev/full"},
                       log);
    child.wait();
    EXPECT_EQ(child.ended(), "exit code 1");
    const auto said = test::content(log);
    EXPECT_THAT(said, StartsWith("hearsay: cannot write to "));
    EXPECT_THAT(said, HasSubstr("No space left on device"));
    EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
}

TEST(Simulate, SaysWhatADiskDoesForALog) {
    const TemporaryFile log(small_log(100));
    const auto ended =
        run({"--trace", log.path(), "--tiers", "--cache", "1MiB", "--memory", "25%", "--json"});
    EXPECT_EQ(ended.how, "exit code 0") << ended.said;
    const auto json = nlohmann::json::parse(ended.said);
    const auto& table = json["tables"][0];
    EXPECT_EQ(table["disk_bytes"], 1 << 20);
    EXPECT_EQ(table["memory_bytes"], 1 << 18);
    for (const auto& group : table["groups"])
        for (const auto& row : group["rows"])
            EXPECT_EQ(row["hit_ratio"], 0.9) << "each object came from the origin once";
    EXPECT_THAT(run({"--trace", log.path(), "--tiers"}).said,
                HasSubstr("disk of 1000 B (10% of the distinct bytes), memory of 50 B"));
}

TEST(Simulate, WritesAPageAndAdvice) {
    std::string often;
    for (int i = 0; i < 12; ++i) often += small_log();
    for (int i = 5; i <= 16; ++i)  // four clients for each proxy
        often += "39000\t" + std::to_string(i) + "\tGET\thttp://a/9\t200\t1000\n";
    const TemporaryFile log(often);
    const TemporaryDirectory directory("hearsay-test-");
    const auto page = directory.path() + "/page.html";
    const auto ended = run(
        {"--trace", log.path(), "--proxies", "4", "--cache", "1MiB", "--html", page, "--advise"});
    EXPECT_EQ(ended.how, "exit code 0") << ended.said;
    EXPECT_THAT(ended.said, HasSubstr("What to set:"));
    EXPECT_THAT(ended.said, HasSubstr("in the 39 s of the log"));
    EXPECT_THAT(ended.said, Not(HasSubstr("false miss:"))) << "no tables";
    const auto more =
        run({"--trace", log.path(), "--proxies", "4", "--cache", "1MiB", "--advise", "--tables"});
    ASSERT_THAT(more.said, HasSubstr("4 proxies, each with 1"));
    EXPECT_LT(more.said.find("What to set:"), more.said.find("4 proxies, each with 1"));
    const TemporaryFile few(small_log());
    EXPECT_THAT(run({"--trace", few.path(), "--proxies", "4", "--cache", "1MiB", "--advise"}).said,
                HasSubstr("TOO LITTLE FOR A VERDICT"));
    const auto text = test::content(page);
    EXPECT_THAT(text, HasSubstr("<h2>Advice</h2>"));
    EXPECT_EQ(
        run({"--trace", log.path(), "--proxies", "2", "--cache", "50%", "--html", directory.path()})
            .how,
        "exit code 1");
}

}  // namespace simulate_command_test
}  // namespace app
