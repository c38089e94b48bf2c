#include "measure/trace/line_reader.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "tests/measure/temporary_file.hpp"

namespace measure {
namespace line_reader_test {

using Kind = TemporaryFile::Kind;

std::vector<std::string> lines_of(const std::string& path) {
    LineReader reader(path);
    std::vector<std::string> lines;
    std::string_view line;
    while (reader.next(line)) lines.emplace_back(line);
    return lines;
}

TEST(LineReader, ReadsPlainAndGzipAlike) {
    const std::string text = "one\r\n\ntwo words\nlast without end";
    const std::vector<std::string> expected{"one", "", "two words", "last without end"};
    EXPECT_EQ(lines_of(TemporaryFile(text).path()), expected);
    EXPECT_EQ(lines_of(TemporaryFile(text, Kind::gzip).path()), expected);
}

TEST(LineReader, KeepsOrderOverManyBuffers) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += "line " + std::to_string(i) + '\n';
    const TemporaryFile file(text, Kind::gzip);
    const auto lines = lines_of(file.path());
    ASSERT_EQ(lines.size(), 100'000u);
    EXPECT_EQ(lines[99'999], "line 99999");
}

TEST(LineReader, CutsLinesAtTheirLimit) {
    const TemporaryFile file(std::string(kMaxLineBytes + 10, 'x') + "\nnext\n");
    const auto lines = lines_of(file.path());
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0].size(), kMaxLineBytes);
    EXPECT_EQ(lines[1], "next");
}

TEST(LineReader, NamesTheFileThatIsNotThere) {
    try {
        LineReader reader("/nonexistent/log");
        FAIL();
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("/nonexistent/log"), std::string::npos);
    }
}

TEST(LineReader, FailsOnAGzipFileThatEndsEarly) {
    std::string text;
    for (int i = 0; i < 10'000; ++i) text += std::to_string(i * 7919) + '\n';
    const TemporaryFile file(text, Kind::gzip);
    std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) / 2);
    EXPECT_THROW(lines_of(file.path()), std::runtime_error);
}

}  // namespace line_reader_test
}  // namespace measure
