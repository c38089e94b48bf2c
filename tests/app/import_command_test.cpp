#include "app/import_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/exit_codes.hpp"
#include "measure/run/child_process.hpp"
#include "proxy/config/parse_config.hpp"
#include "tests/measure/captured.hpp"

namespace app {
namespace import_command_test {

using measure::captured;
using measure::TemporaryDirectory;
using testing::HasSubstr;
using testing::StartsWith;

class ImportCommandTest : public testing::Test {
protected:
    std::string file(const std::string& name, const std::string& text) {
        const auto path = folder_.path() + '/' + name;
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        std::ofstream(path) << text;
        return path;
    }
    static std::string content(const std::string& path) {
        std::ifstream in(path);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    const TemporaryDirectory folder_{"hearsay-test-"};
};

constexpr const char* kSquid =
    "http_port 3128\nsnmp_port 3401\nhttp_access deny late\nacl late time 20:00-23:59\n"
    "http_access allow all\n";

TEST_F(ImportCommandTest, WritesTheConfigurationAndListsTheRestWarningsFirst) {
    ImportCommand command;
    command.file = file("squid.conf", kSquid);
    const auto ended = captured([&] { return import_command(command); });
    EXPECT_EQ(ended.code, kOk);
    EXPECT_TRUE(proxy::parse_config(ended.out).config) << ended.out;
    EXPECT_THAT(ended.error, StartsWith("WARNING squid.conf:3: http_access deny late: "));
    EXPECT_THAT(ended.error, HasSubstr("\nsquid.conf:2: snmp_port 3401: "));
    EXPECT_THAT(ended.error,
                HasSubstr("5 directives: 2 taken over, 1 without need of a setting, 2 not taken "
                          "over as they are (see above); 2 warnings"));
}

TEST_F(ImportCommandTest, EndsWithOneIfAskedToBeStrict) {
    ImportCommand command;
    command.file = file("squid.conf", kSquid);
    command.strict = true;
    EXPECT_EQ(captured([&] { return import_command(command); }).code, kFailed);
    command.file = file("good.conf", "http_port 3128\nhttp_access allow localhost\n");
    EXPECT_EQ(captured([&] { return import_command(command); }).code, kOk);
}

TEST_F(ImportCommandTest, NeverOverwritesAFile) {
    ImportCommand command;
    command.file = file("squid.conf", "http_port 3128\nhttp_access allow localhost\n");
    command.output = folder_.path() + "/node.json";
    EXPECT_EQ(captured([&] { return import_command(command); }).code, kOk);
    EXPECT_TRUE(proxy::parse_config(content(command.output)).config);
    struct stat info {};
    ASSERT_EQ(::stat(command.output.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u) << "a parent's password may be in it";
    const auto again = captured([&] { return import_command(command); });
    EXPECT_EQ(again.code, kFailed);
    EXPECT_THAT(again.error, HasSubstr("exists"));
}

TEST_F(ImportCommandTest, ReadsIncludedFilesOfThisMachine) {
    file("conf.d/1.conf", "http_access allow localhost\n");
    ImportCommand command;
    command.file = file("squid.conf", "http_port 3128\ninclude conf.d/*.conf\n");
    const auto ended = captured([&] { return import_command(command); });
    EXPECT_EQ(ended.code, kOk) << ended.error;
    EXPECT_THAT(ended.out, HasSubstr("127.0.0.1"));
}

TEST_F(ImportCommandTest, NamesAFileThatCannotBeRead) {
    ImportCommand command;
    command.file = folder_.path() + "/none.conf";
    const auto ended = captured([&] { return import_command(command); });
    EXPECT_EQ(ended.code, kFailed);
    EXPECT_THAT(ended.error, HasSubstr("cannot be read"));
    command.file = folder_.path();
    EXPECT_EQ(captured([&] { return import_command(command); }).code, kFailed) << "a folder";
    command.file = file("broken.conf", "http {\n");
    command.format = "nginx";
    EXPECT_THAT(captured([&] { return import_command(command); }).error,
                HasSubstr("broken.conf:2: a block has no closing brace"));
}

TEST_F(ImportCommandTest, TakesNoOtherFile) {
    ImportCommand command;
    command.file = file("node.json", "{\"node\": \"a\"}\n");
    const auto ended = captured([&] { return import_command(command); });
    EXPECT_EQ(ended.code, kUsage);
    EXPECT_THAT(ended.error, HasSubstr("node.json: no directive of Squid or nginx is in it"));
    command.format = "squid";
    EXPECT_NE(captured([&] { return import_command(command); }).code, kUsage);
}

TEST_F(ImportCommandTest, KeepsControlBytesFromTheTerminal) {
    ImportCommand command;
    command.file = file("squid.conf", "http_port 3128\nx\x1b[31m 1\n");
    const auto ended = captured([&] { return import_command(command); });
    EXPECT_EQ(ended.error.find('\x1b'), std::string::npos);
}

}  // namespace import_command_test
}  // namespace app
