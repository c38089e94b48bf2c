#include "proxy/access/password_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "proxy/access/password_hash.hpp"
#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy {
namespace password_file_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kPassword = "wachtwoord-ü";
// Hashes of it by libcrypt, at the lowest costs.
constexpr auto kBcryptY = "$2y$04$YxFk7t2rQ8wawWfpfzexK..USjyGQ47Psh76YqRdO4.ix6qH2LvOu";
constexpr auto kBcryptB = "$2b$04$MyA9sSxDT.ZukQjqCPk/O.xYJsC3bWxdFCWDRjMpkEKSQcTxbplDS";
constexpr auto kBcryptA = "$2a$04$jlTkWGxMefQORl1fGpWBvuWPp6B0IwXgm2bgAU5pR3TECfprIxacC";
constexpr auto kYescrypt =
    "$y$j75$.K6OLsfeucKdWeB376nl80$w1AXEs.P2bpK1l0kXTcM93e7iZa1DlokfKiIHRIA2mD";
constexpr auto kSha512 =
    "$6$rounds=1000$EUEsucK96L38gBrp$aFJoTIAroCB7g.57rGIyDbBoJwTJIgcwLQPsI3nHtaIF1pLfnUiDBeOx2."
    "YceqNBjJHjXMbcNm0SI9J.RNhBr/";
constexpr auto kSha256 =
    "$5$rounds=1000$fqmwkX2Ma49Hog9e$9UIdFxiqtypuP0wa7yrb2gKbGN9OB04qw/DBq6WLPVA";

PasswordFileRead parse(std::string_view text) {
    return parse_users(text, "f");
}

TEST(PasswordHash, IsOfTheSchemesOfLibcryptThatWithstandGuessing) {
    for (const std::string hash : {kBcryptY, kBcryptB, kBcryptA, kYescrypt, kSha512, kSha256}) {
        EXPECT_EQ(judge_hash(hash), HashFault::none) << hash;
        EXPECT_TRUE(has_hash(kPassword, hash)) << hash;
        EXPECT_FALSE(has_hash("wachtwoord", hash)) << hash;
        EXPECT_FALSE(has_hash("", hash)) << hash;
    }
}

TEST(PasswordHash, IsRefusedIfItIsWeakOrCutOff) {
    for (const auto* weak : {"$apr1$abcdefgh$0123456789abcdef012345", "$1$abcdefgh$0123456789",
                             "{SHA}2jmj7l5rSw0yVb/vlWAYkK/YBwk=", "plain", "", "rl.3StKT.4T8M"})
        EXPECT_EQ(judge_hash(weak), HashFault::weak) << weak;
    for (const auto* unknown : {"$9$x$y", "$", "$sha1$x", "$6 $x", "$y$j 5$a$b"})
        EXPECT_EQ(judge_hash(unknown), HashFault::unknown) << unknown;
    for (const std::string hash : {kBcryptY, kYescrypt, kSha512, kSha256}) {
        EXPECT_EQ(judge_hash(hash.substr(0, hash.size() - 1)), HashFault::cut_off) << hash;
        EXPECT_EQ(judge_hash(hash + "a"), HashFault::cut_off) << hash;
    }
    EXPECT_EQ(judge_hash("$2y$31$" + std::string(53, 'a')), HashFault::too_costly);
    EXPECT_EQ(judge_hash("$6$rounds=999999999$abc$" + std::string(86, 'a')), HashFault::too_costly);
    EXPECT_EQ(judge_hash("$2y$99$" + std::string(53, 'a')), HashFault::too_costly);
}

TEST(PasswordFile, HasLinesOfUsers) {
    const auto read = parse("# users\nann:" + std::string(kBcryptY) + "\r\n\nb o b:" + kSha512 +
                            ":the rest is a comment\n\xc3\xbc:" + kYescrypt);
    ASSERT_TRUE(read.file) << testing::PrintToString(read.errors);
    EXPECT_EQ(read.file->size(), 3u);
    EXPECT_EQ(*read.file->hash_of("ann"), kBcryptY);
    EXPECT_EQ(*read.file->hash_of("b o b"), kSha512);
    EXPECT_EQ(*read.file->hash_of("ü"), kYescrypt);
    EXPECT_EQ(read.file->hash_of("Ann"), nullptr);
    EXPECT_EQ(read.file->hash_of(""), nullptr);
    EXPECT_EQ(read.file->costliest_hash(), kBcryptY);
}

TEST(PasswordFile, NamesTheLineOfAFaultAndShowsNoHash) {
    const auto errors = [](const std::string& text) { return parse(text).errors; };
    const std::string good = "ann:" + std::string(kBcryptY) + "\n";
    EXPECT_THAT(errors(good + "bob"),
                ElementsAre("f, line 2: the line has no colon between a name and a hash"));
    EXPECT_THAT(errors(":" + std::string(kBcryptY)),
                ElementsAre("f, line 1: the line has no name in front of its colon"));
    EXPECT_THAT(errors(good + good),
                ElementsAre("f, line 2: the line has the name of a line before"));
    EXPECT_THAT(errors("a\tb:" + std::string(kBcryptY)),
                ElementsAre(HasSubstr("control character in its name")));
    EXPECT_THAT(errors("bob:hunter2"),
                ElementsAre(HasSubstr("line 1: the line has a hash that is too weak")));
    EXPECT_THAT(errors("bob:hunter2")[0], testing::Not(HasSubstr("hunter2")));
    EXPECT_THAT(errors("bob:$2y$10$short"), ElementsAre(HasSubstr("cut off")));
    EXPECT_THAT(errors(std::string(300, 'u') + ":" + kBcryptY),
                ElementsAre(HasSubstr("255 bytes")));
    EXPECT_THAT(errors("bob:" + std::string(2000, 'x')), ElementsAre(HasSubstr("1024 bytes")));
    std::string many;
    for (int i = 0; i < 100; ++i) many.append("x\n");
    EXPECT_THAT(errors(many), SizeIs(kMaxShownFaults));
}

TEST(PasswordFile, KnowsTheHashThatTakesLongest) {
    const auto costliest = [](std::initializer_list<std::string> hashes) {
        std::string text;
        for (const auto& hash : hashes)
            text.append("u")
                .append(std::to_string(text.size()))
                .append(":")
                .append(hash)
                .append("\n");
        const auto read = parse(text);
        EXPECT_TRUE(read.file) << testing::PrintToString(read.errors);
        return read.file ? read.file->costliest_hash() : std::string();
    };
    const auto of = [](std::string_view hash, std::string_view from, std::string_view to) {
        std::string changed(hash);
        return changed.replace(changed.find(from), from.size(), to);
    };
    const auto bcrypt12 = of(kBcryptB, "$04$", "$12$"), bcrypt5 = of(kBcryptY, "$04$", "$05$");
    const auto usual_yescrypt = of(kYescrypt, "j75", "j9T");
    const auto usual_sha = of(kSha512, "rounds=1000$", "");
    EXPECT_EQ(costliest({kBcryptY, bcrypt12, bcrypt5}), bcrypt12) << "wherever its line is";
    EXPECT_EQ(costliest({usual_sha, usual_yescrypt, bcrypt5}), usual_yescrypt);  // 2, 13, 1.6 ms
    EXPECT_EQ(costliest({bcrypt5, usual_sha, kSha256}), usual_sha);
    const auto million = of(kSha512, "rounds=1000$", "rounds=1000000$");
    EXPECT_EQ(costliest({bcrypt12, million}), million);  // 200, 400 ms
}

TEST(PasswordFile, MayHaveNoUser) {
    const auto read = parse("");
    ASSERT_TRUE(read.file);
    EXPECT_EQ(judge_hash(read.file->costliest_hash()), HashFault::none)
        << "a check of it takes its time";
    EXPECT_FALSE(has_hash("", read.file->costliest_hash()));
}

TEST(PasswordFile, IsReadFromADisk) {
    const test::TemporaryDirectory folder;
    const auto path = (folder.path() / "users").string();
    EXPECT_THAT(read_users(path).errors,
                ElementsAre("cannot read " + path + ": No such file or directory"));
    EXPECT_THAT(read_users(folder.path()).errors, ElementsAre(HasSubstr("it is no file")));
    std::ofstream(path) << "ann:" << kBcryptY << "\n";
    const auto read = read_users(path);
    EXPECT_THAT(read.errors, IsEmpty());
    EXPECT_EQ(*read.file, *parse("ann:" + std::string(kBcryptY)).file);
    EXPECT_FALSE(*read.file == *parse("ann:" + std::string(kBcryptB)).file);
    std::filesystem::resize_file(path, kMaxUsersFileBytes + 1);
    EXPECT_THAT(read_users(path).errors, ElementsAre(HasSubstr("larger than 16MiB")));
}

}  // namespace password_file_test
}  // namespace proxy
