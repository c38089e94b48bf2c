#include "app/init_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/exit_codes.hpp"
#include "app/run_command.hpp"
#include "proxy/config/parse_config.hpp"
#include "tests/app/run_program.hpp"
#include "tests/measure/captured.hpp"

namespace app {
namespace init_command_test {

using measure::captured;
using measure::TemporaryDirectory;
using test::content;
using testing::HasSubstr;

TEST(Init, WritesConfigurationsThatFitTogether) {
    const TemporaryDirectory folder("hearsay-test-");
    InitCommand command;
    command.nodes = {"10.0.0.1", "paris=cache2.example.org:8080", "10.0.0.3"};
    command.folder = folder.path() + "/cluster";
    command.memory = "2GiB";
    const auto ended = captured([&] { return init_command(command); });
    ASSERT_EQ(ended.code, kOk) << ended.error;
    EXPECT_THAT(ended.out, HasSubstr("hearsay check --peers " + command.folder + "/a.json"));

    const auto environment = content(command.folder + "/environment");
    ASSERT_TRUE(environment.starts_with("HEARSAY_CLUSTER_KEY="));
    const auto key = environment.substr(20, environment.size() - 21);
    EXPECT_EQ(key.size(), 64u);
    struct stat info {};
    ASSERT_EQ(::stat((command.folder + "/environment").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u) << "the key is for nobody else";

    std::vector<proxy::Config> configs;
    for (const char* name : {"a", "paris", "c"}) {
        const auto text = content(command.folder + '/' + name + ".json");
        EXPECT_EQ(text.find(key), std::string::npos);
        auto read = proxy::parse_config(text, [&](const std::string&) { return key; });
        ASSERT_TRUE(read.config) << proxy::describe(read.errors);
        EXPECT_EQ(read.config->node, name);
        EXPECT_EQ(read.config->cluster->peers.size(), 2u);
        configs.push_back(std::move(*read.config));
    }
    EXPECT_EQ(configs[0].listen.text(), "10.0.0.1:3128");
    EXPECT_EQ(configs[1].listen.text(), "0.0.0.0:8080") << "a name is no address to listen at";
    for (const auto& config : configs)
        for (const auto& peer : config.cluster->peers)
            if (peer.node == "paris") {
                EXPECT_EQ(peer.http.text(), "cache2.example.org:8080");
                EXPECT_EQ(peer.link.text(), "cache2.example.org:8081");
            }

    EXPECT_EQ(content(command.folder + "/.gitignore"), "*\n");
    EXPECT_THAT(ended.out, HasSubstr("/.gitignore: keeps git from committing the key"));

    const auto again = captured([&] { return init_command(command); });
    EXPECT_EQ(again.code, kFailed);
    EXPECT_THAT(again.error, HasSubstr("a.json exists already"));
    EXPECT_EQ(content(command.folder + "/environment"), environment);
}

TEST(Init, LeavesTheFilesOfAnExistingFolderToItsOwner) {
    const TemporaryDirectory folder("hearsay-test-");
    InitCommand command;
    command.nodes = {"10.0.0.1", "10.0.0.2"};
    command.folder = folder.path();
    command.memory = "2GiB";
    const auto ended = captured([&] { return init_command(command); });
    ASSERT_EQ(ended.code, kOk) << ended.error;
    EXPECT_FALSE(std::filesystem::exists(folder.path() + "/.gitignore"));
    EXPECT_EQ(ended.out.find(".gitignore"), std::string::npos);
}

TEST(Init, MovesPortsApartOnOneHost) {
    const auto nodes = plan_nodes({"127.0.0.1", "127.0.0.1", "[::1]:5000"});
    EXPECT_EQ(nodes[0].http.text(), "127.0.0.1:3128");
    EXPECT_EQ(nodes[1].http.text(), "127.0.0.1:3138");
    EXPECT_EQ(nodes[1].link.text(), "127.0.0.1:3139");
    EXPECT_EQ(nodes[1].admin.text(), "127.0.0.1:9138");
    EXPECT_EQ(nodes[2].name, "c");
    EXPECT_EQ(nodes[2].link.text(), "[::1]:5001");
}

TEST(Init, PutsTheAdminPortsOfLoopbackNodesAtTheirOwnAddresses) {
    const auto nodes = plan_nodes({"127.0.0.1", "127.0.0.2", "10.0.0.1"});
    EXPECT_EQ(nodes[0].admin.text(), "127.0.0.1:9128");
    EXPECT_EQ(nodes[1].admin.text(), "127.0.0.2:9128");
    EXPECT_EQ(nodes[2].admin.text(), "127.0.0.1:9128");
}

TEST(Init, NamesAnyNumberOfNodes) {
    std::vector<std::string> many;
    for (int i = 1; i <= 28; ++i) many.push_back("10.0.0." + std::to_string(i));
    const auto nodes = plan_nodes(many);
    EXPECT_EQ(nodes[25].name, "z");
    EXPECT_EQ(nodes[26].name, "aa");
    EXPECT_EQ(nodes[27].name, "ab");
}

TEST(Init, RefusesWhatMakesNoCluster) {
    const auto code = [](std::vector<std::string> nodes, const std::string& memory = "1GiB") {
        const TemporaryDirectory folder("hearsay-test-");
        InitCommand command;
        command.nodes = std::move(nodes);
        command.folder = folder.path();
        command.memory = memory;
        const auto ended = captured([&] { return init_command(command); });
        EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
        return ended.code;
    };
    EXPECT_EQ(code({"10.0.0.1"}), kUsage);
    EXPECT_EQ(code({"10.0.0.1", "a=10.0.0.2"}), kUsage) << "a is the first one's";
    EXPECT_EQ(code({"10.0.0.1:80", "10.0.0.1:80"}), kUsage);
    EXPECT_EQ(code({"10.0.0.1:80", "10.0.0.1:81"}), kUsage) << "the first one's link";
    EXPECT_EQ(code({"10.0.0.1", "/etc/passwd=10.0.0.2"}), kUsage);
    EXPECT_EQ(code({"10.0.0.1", "b c=10.0.0.2"}), kUsage);
    EXPECT_EQ(code({"10.0.0.1:65535", "10.0.0.2"}), kUsage);
    EXPECT_EQ(code({"10.0.0.1", "10.0.0.2"}, "much"), kUsage);
    for (const auto* nowhere : {"0.0.0.0", "[::]:3128", "b=0.0.0.0:80", "[::ffff:0.0.0.0]"})
        EXPECT_EQ(code({"10.0.0.1", nowhere}), kUsage) << nowhere;
    for (const auto* mistyped : {"10.0.0.300", "10.0.0", "10.0.0.2.", "1000", "a.b.7:80"})
        EXPECT_EQ(code({"10.0.0.1", mistyped}), kUsage) << mistyped;
    EXPECT_EQ(code({"[::1]", "[0:0::1]"}), kUsage) << "one address in two spellings";
    EXPECT_EQ(code({"10.0.0.1", "[::ffff:10.0.0.1]"}), kUsage);
    EXPECT_EQ(code({"cache.test", "Cache.test."}), kUsage);
}

}  // namespace init_command_test
}  // namespace app
