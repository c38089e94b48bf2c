#include "app/disk_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/exit_codes.hpp"
#include "tests/measure/captured.hpp"
#include "tests/proxy/disk/disk_folder.hpp"

namespace app {
namespace disk_command_test {

using measure::captured;
using measure::Ended;
using nlohmann::json;
using proxy::test::DiskFolder;
using testing::HasSubstr;
using testing::StartsWith;

Ended run(const DiskCommand& command) {
    return captured([&] { return disk_command(command); });
}

/// The disk of a stopped node, with two responses.
struct Folder : DiskFolder {
    Folder() {
        good = put(proxy::test::response("http://a.example/1", 0, ""), "body");
        put(proxy::test::response("http://a.example/2", 0, ""), "body");
        seal();
    }
    proxy::RecordLocation good;
};

TEST(DiskCommand, ShowsWhatACacheHolds) {
    Folder folder;
    folder.leave();
    const auto ended = run({.places = {folder.path()}});
    EXPECT_EQ(ended.code, kOk) << ended.error;
    EXPECT_THAT(ended.out, HasSubstr("files     1, 64 KiB\n"));
    EXPECT_THAT(ended.out, HasSubstr("objects   2: 2 responses, 0 blocks of large bodies; they "
                                     "take 1 KiB (1.6 % of the files)\n"));
    EXPECT_THAT(ended.out, HasSubstr("expired   2 (100.0 %)\n"));
    EXPECT_THAT(ended.out, HasSubstr("tags      2 tags on 2 responses\n"));
    EXPECT_THAT(ended.out, HasSubstr("0 tombstones\n"));
}

TEST(DiskCommand, LooksForAUrlInAnySpelling) {
    Folder folder;
    folder.leave();
    const auto ended = run({.places = {folder.path()}, .url = "HTTP://A.example:80/1"});
    EXPECT_EQ(ended.code, kOk) << ended.error;
    EXPECT_THAT(ended.out, StartsWith("HTTP://A.example:80/1: 1 record\n  00000001.segment at 512: "
                                      "HTTP/1.1 200 OK, body of 4 bytes, stored "
                                      "2023-11-14T22:13:20Z ("));
    EXPECT_THAT(ended.out, HasSubstr(" expired 2023-11-14T22:14:20Z, varies by accept-encoding\n"));
    const auto absent = run({.places = {folder.path()}, .url = "http://a.example/3"});
    EXPECT_EQ(absent.code, kFailed);
    EXPECT_EQ(absent.out, "http://a.example/3: not there\n");
    for (const auto* bad : {"a.example/1", "/1", "ftp://a/"}) {
        const auto refused = run({.places = {folder.path()}, .url = bad});
        EXPECT_EQ(refused.code, kUsage) << bad;
        EXPECT_THAT(refused.error, HasSubstr("write it like http://host/path"));
    }
}

TEST(DiskCommand, ShowsABodyInBlocksAsIndexAndBlocks) {
    DiskFolder folder;
    folder.put(proxy::test::response("http://a.example/large", 0, ""), "");
    auto block = proxy::test::response("http://a.example/large \"tag\" 0-9", 0, "");
    block.type = proxy::RecordType::block;
    folder.put(block, "0123456789");
    folder.seal();
    folder.leave();
    const auto ended = run({.places = {folder.path()}, .url = "http://a.example/large"});
    EXPECT_EQ(ended.code, kOk) << ended.error;
    EXPECT_THAT(ended.out, HasSubstr("HTTP/1.1 200 OK, index of a body in blocks, stored "));
    EXPECT_THAT(ended.out, HasSubstr("  and 1 block of its body, 10 bytes\n"));
}

TEST(DiskCommand, ChecksEveryChecksum) {
    Folder folder;
    folder.leave();
    const auto good = run({.places = {folder.path()}, .check = true});
    EXPECT_EQ(good.code, kOk) << good.error;
    EXPECT_THAT(good.out, HasSubstr("checked   2 records: every checksum agrees\n"));
    folder.spoil(folder.good, 70);
    const auto bad = run({.places = {folder.path()}, .check = true});
    EXPECT_EQ(bad.code, kFailed);
    EXPECT_THAT(bad.out, HasSubstr("damaged   00000001.segment at 512: checksum does not agree "
                                   "(http://a.example/1)\n"));
}

TEST(DiskCommand, FailsWhereItCannotReadAFile) {
    Folder folder;
    folder.leave();
    std::ofstream(folder.segment(2)) << "no segment";
    const auto unreadable = run({.places = {folder.path()}});
    EXPECT_EQ(unreadable.code, kFailed);
    EXPECT_THAT(unreadable.out, HasSubstr(", 1 unreadable\n"));
    EXPECT_THAT(unreadable.out, HasSubstr("damaged   00000002.segment: "));
    EXPECT_EQ(run({.places = {folder.path()}, .json = true}).code, kFailed);
    EXPECT_EQ(run({.places = {folder.path()}, .url = "http://a.example/1"}).code, kFailed);
    std::filesystem::remove(folder.segment(2));
    EXPECT_EQ(run({.places = {folder.path()}}).code, kOk);
}

TEST(DiskCommand, SpeaksJson) {
    Folder folder;
    folder.leave();
    const auto ended =
        run({.places = {folder.path()}, .url = "http://a.example/1", .check = true, .json = true});
    EXPECT_EQ(ended.code, kOk) << ended.error;
    const auto page = json::parse(ended.out);
    EXPECT_EQ(page["responses"], 2);
    EXPECT_EQ(page["proved"], 2);
    EXPECT_EQ(page["stored"]["oldest"], "2023-11-14T22:13:20Z");
    EXPECT_EQ(page["url"]["records"][0]["status_line"], "HTTP/1.1 200 OK");
    EXPECT_EQ(page["url"]["records"][0]["offset"], 512);
    EXPECT_EQ(page["faults"], json::array());
}

TEST(DiskCommand, RefusesWhatItCannotLookAt) {
    Folder folder;
    const auto used = run({.places = {folder.path()}});
    EXPECT_EQ(used.code, kFailed);
    EXPECT_EQ(used.error, "hearsay: " + folder.path().string() +
                              ": a node works with it: stop that, or look at one of its files "
                              "(*.segment)\n");
    EXPECT_EQ(run({.places = {folder.segment(1)}}).code, kOk);
    const auto absent = run({.places = {"/nonexistent"}});
    EXPECT_EQ(absent.code, kFailed);
    EXPECT_EQ(absent.error, "hearsay: /nonexistent: No such file or directory\n");
    const proxy::test::TemporaryDirectory empty;
    EXPECT_THAT(run({.places = {empty.path()}}).error, HasSubstr(": there is no cache: name a "));
}

TEST(DiskCommand, LooksAtSeveralPlaces) {
    Folder one, two;
    one.leave();
    two.leave();
    const auto first = one.path().string(), second = two.path().string();
    const auto ended = run({.places = {first, second}});
    EXPECT_EQ(ended.code, kOk) << ended.error;
    EXPECT_THAT(ended.out, StartsWith(first + ":\nfiles     1, "));
    EXPECT_THAT(ended.out, HasSubstr("\n\n" + second + ":\nfiles     1, "));
    const auto pages = json::parse(run({.places = {first, second}, .json = true}).out);
    ASSERT_EQ(pages.size(), 2u);
    EXPECT_EQ(pages[1]["path"], second);
    const auto some = run({.places = {first, "/nonexistent", second}});
    EXPECT_EQ(some.code, kFailed);
    EXPECT_THAT(some.out, HasSubstr(second + ":\n")) << "the others are shown all the same";
}

TEST(DiskCommand, SaysThatAFileIsNoneOfACache) {
    const proxy::test::TemporaryDirectory folder;
    const auto file = (folder.path() / "notes.txt").string();
    std::ofstream(file) << std::string(100'000, 'x');
    const auto ended = run({.places = {file}});
    EXPECT_EQ(ended.code, kFailed);
    EXPECT_EQ(ended.out, "");
    EXPECT_THAT(ended.error,
                StartsWith("hearsay: " + file + ": is no file of a cache (*.segment)"));
}

}  // namespace disk_command_test
}  // namespace app
