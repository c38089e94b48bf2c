// The fuzz targets over their seeds, and over every beginning of a seed, as a sender that breaks
// off leaves it.

#include "tests/fuzz/fuzz.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace seeds_test {

constexpr std::size_t kMaxTruncations = 2000;  // of one seed

std::vector<std::filesystem::path> seeds_of(std::string_view target) {
    std::vector<std::filesystem::path> files;
    const auto folder = std::filesystem::path(HEARSAY_CORPUS) / target;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        files.push_back(entry.path());
    }
    return files;
}

std::vector<std::uint8_t> read(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    EXPECT_TRUE(in) << file;
    return {std::istreambuf_iterator<char>(in), {}};
}

class Seeds : public testing::TestWithParam<FuzzTarget> {};

TEST_P(Seeds, HoldWholeAndCutOffAnywhere) {
    const auto files = seeds_of(GetParam().name);
    EXPECT_GE(files.size(), 3u);
    for (const auto& file : files) {
        SCOPED_TRACE(file);
        const auto bytes = read(file);
        EXPECT_LE(bytes.size(), 4096u) << "seeds are small";
        EXPECT_EQ(GetParam().run(bytes.data(), bytes.size()), 0);
        const auto beginnings = std::min(bytes.size(), kMaxTruncations);
        for (std::size_t size = 0; size < beginnings; ++size) {
            // A copy of just this size, so that a read past the end is one.
            const std::vector<std::uint8_t> part(bytes.begin(),
                                                 bytes.begin() + static_cast<std::ptrdiff_t>(size));
            EXPECT_EQ(GetParam().run(part.data(), part.size()), 0);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Seeds, testing::ValuesIn(kFuzzTargets),
                         [](const auto& seed) { return std::string(seed.param.name); });

}  // namespace seeds_test
