#include "proxy/config/config_values.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace config_values_test {

using namespace std::chrono_literals;

TEST(Durations, AreANumberAndAUnit) {
    EXPECT_EQ(parse_duration("30s"), 30s);
    EXPECT_EQ(parse_duration("1.5s"), 1500ms);
    EXPECT_EQ(parse_duration("50ms"), 50ms);
    EXPECT_EQ(parse_duration("7us"), 7us);
    EXPECT_EQ(parse_duration("9ns"), 9ns);
    EXPECT_EQ(parse_duration("2m"), 2min);
    EXPECT_EQ(parse_duration("1h"), 1h);
    EXPECT_EQ(parse_duration("1d"), 24h);
    EXPECT_EQ(parse_duration("0s"), 0s);
}

TEST(Durations, AreNothingElse) {
    for (const char* text : {"", "s", "30", "30 s", " 30s", "30S", "-1s", "+1s", "1e3s", "0x1s",
                             ".5s", "5.s", "1.2.3s", "inf s", "nan", "1min", "999999999999d"}) {
        EXPECT_FALSE(parse_duration(text)) << text;
    }
    EXPECT_FALSE(duration_of_seconds(-1));
    EXPECT_FALSE(duration_of_seconds(1e300));
    EXPECT_EQ(duration_of_seconds(0.25), 250ms);
}

TEST(Durations, AreWrittenInTheLargestWholeUnit) {
    EXPECT_EQ(format_duration(0s), "0s");
    EXPECT_EQ(format_duration(1500ms), "1500ms");
    EXPECT_EQ(format_duration(120s), "2m");
    EXPECT_EQ(format_duration(61s), "61s");
    EXPECT_EQ(format_duration(48h), "2d");
    EXPECT_EQ(format_duration(1ns), "1ns");
}

TEST(Sizes, AreANumberAndAUnit) {
    EXPECT_EQ(parse_size("512MiB"), 512u << 20);
    EXPECT_EQ(parse_size("1.5KiB"), 1536u);
    EXPECT_EQ(parse_size("2GB"), 2'000'000'000u);
    EXPECT_EQ(parse_size("3KB"), 3'000u);
    EXPECT_EQ(parse_size("4MB"), 4'000'000u);
    EXPECT_EQ(parse_size("5B"), 5u);
    EXPECT_EQ(parse_size("1TiB"), 1ull << 40);
    EXPECT_EQ(parse_size("1TB"), 1'000'000'000'000u);
    EXPECT_EQ(parse_size("1GiB"), 1ull << 30);
}

TEST(Sizes, AreNothingElse) {
    for (const char* text : {"", "512", "512M", "512mib", "512 MiB", "-1MiB", "MiB", "1,5MiB",
                             "1e3B", "18446744073709551616B"}) {
        EXPECT_FALSE(parse_size(text)) << text;
    }
}

TEST(Sizes, ReadWhatTheyWrite) {
    for (const std::uint64_t bytes :
         {0ull, 1ull, 1000ull, 1023ull, 1024ull, 65537ull, 512ull << 20}) {
        EXPECT_EQ(parse_size(format_size(bytes)), bytes);
    }
    EXPECT_EQ(format_size(65536), "64KiB");
    EXPECT_EQ(format_size(3'000'000), "3MB");
}

TEST(HostPorts, KeepIpv6AddressesWithoutBrackets) {
    EXPECT_EQ(parse_host_port("[2001:db8::1]:80"), (HostPort{"2001:db8::1", 80}));
    EXPECT_EQ(parse_host_port("hearsay-a:3128"), (HostPort{"hearsay-a", 3128}));
    EXPECT_EQ(parse_host_port("hearsay-a", 9128), (HostPort{"hearsay-a", 9128}));
    for (const auto* text : {"hearsay-a", "hearsay-a:0", "hearsay-a:65536", "a b:1", ":1", ""})
        EXPECT_EQ(parse_host_port(text), std::nullopt) << text;
    EXPECT_EQ((HostPort{"2001:db8::1", 80}).text(), "[2001:db8::1]:80");
}

TEST(NearestName, ForgivesTyposButNotEverything) {
    const std::vector<std::string> known{"memory", "object_max", "disk", "key"};
    EXPECT_EQ(nearest_name("memry", known), "memory");
    EXPECT_EQ(nearest_name("meomry", known), "memory");
    EXPECT_EQ(nearest_name("object-max", known), "object_max");
    EXPECT_EQ(nearest_name("disc", known), "disk");
    EXPECT_EQ(nearest_name("zzz", known), "");
    EXPECT_EQ(nearest_name("", known), "");
    EXPECT_EQ(nearest_name(std::string(1000, 'm'), known), "");
    EXPECT_EQ(nearest_name("memory", {}), "");
}

}  // namespace config_values_test
}  // namespace proxy
