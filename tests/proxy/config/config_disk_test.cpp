#include "proxy/config/config_disk.hpp"

#include <gmock/gmock.h>
#include <linux/magic.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "proxy/config/config_changes.hpp"
#include "proxy/config/config_json.hpp"
#include "proxy/config/config_review.hpp"
#include "proxy/config/disk_folders.hpp"
#include "proxy/config/parse_config.hpp"
#include "proxy/disk/disk_tier.hpp"
#include "proxy/disk/segment_log.hpp"
#include "proxy/disk/super_file.hpp"
#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy {
namespace config_disk_test {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ConfigResult parse(const std::string& disk, const std::string& more = "") {
    return parse_config(
        R"({"node": "a", "listen": "127.0.0.1:3128", "origins": [{"host": "*", "url": "http://o"}],
            "cache": {"memory": "64MiB", "disk": )" +
            disk + more + "}}",
        [](const std::string& name) -> std::optional<std::string> {
            return name == "CACHE" ? std::optional<std::string>("/var/cache/it") : std::nullopt;
        });
}

CacheConfig good(const std::string& disk, const std::string& more = "") {
    const auto result = parse(disk, more);
    EXPECT_EQ(describe(result.errors), "");
    return result.config.value_or(LoadedConfig()).cache;
}

std::vector<std::string> lines(const std::vector<ConfigError>& found) {
    std::vector<std::string> text;
    for (const auto& each : found) text.push_back(each.path + ": " + each.message);
    return text;
}

std::vector<std::string> errors(const std::string& disk, const std::string& more = "") {
    return lines(parse(disk, more).errors);
}

Config with(std::vector<DiskConfig> disk) {
    Config config;
    config.cache.disk = std::move(disk);
    return config;
}

TEST(ConfigDisk, IsOneDirectoryOrAList) {
    EXPECT_THAT(Config().cache.disk, IsEmpty());
    EXPECT_EQ(Config().cache.disk_admission, DiskAdmission::second_request);
    EXPECT_THAT(good(R"({"path": "/var/cache/hearsay", "size": "20GiB"})").disk,
                ElementsAre(DiskConfig{"/var/cache/hearsay", 20ull << 30}));
    EXPECT_THAT(
        good(R"([{"path": "${CACHE}", "size": 268435456}, {"path": "/b", "size": "4TiB"}])").disk,
        ElementsAre(DiskConfig{"/var/cache/it", 256ull << 20}, DiskConfig{"/b", 4ull << 40}));
    EXPECT_THAT(good("[]").disk, IsEmpty());
    EXPECT_EQ(good("[]", R"(, "disk_admission": "always")").disk_admission, DiskAdmission::always);
    EXPECT_THAT(errors("[]", R"(, "disk_admission": "alway")"),
                ElementsAre(HasSubstr("did you mean \"always\"?")));
}

TEST(ConfigDisk, KeepsPathsInTheirShortestForm) {
    const auto form = [](const std::string& path) {
        return good(R"({"path": ")" + path + R"(", "size": "1GiB"})").disk.at(0).path;
    };
    EXPECT_EQ(form("/var/cache/"), "/var/cache");
    EXPECT_EQ(form("//var//cache/./x/../"), "/var/cache");
    EXPECT_EQ(form("/"), "/");
}

TEST(ConfigDisk, SaysInOneLineWhatIsWrong) {
    const std::string like = "{ \"path\": \"/var/cache/hearsay\", \"size\": \"20GiB\" }";
    for (const auto& [value, kind] : {std::pair{"5", "a number"},
                                      {"\"/x\"", "a string"},
                                      {"null", "null"},
                                      {"true", "a boolean"}})
        EXPECT_THAT(errors(value), ElementsAre("$.cache.disk: must be like " + like +
                                               ", or a list of these, not " + kind));
    EXPECT_THAT(errors(R"([[{"path": "/x", "size": "1GiB"}]])"),
                ElementsAre("$.cache.disk[0]: must be an object, not an array"));
    const std::string path = ": must be an absolute path, such as \"/var/cache/hearsay\"";
    for (const std::string text : {"", "cache", "./cache", "~/cache", "/a\\u0000b"})
        EXPECT_THAT(errors(R"({"path": ")" + text + R"(", "size": "1GiB"})"),
                    ElementsAre("$.cache.disk.path" + path));
    EXPECT_THAT(errors(R"({"path": 7, "size": "1GiB"})"),
                ElementsAre("$.cache.disk.path: must be a string, not a number"));
    EXPECT_THAT(
        errors("{}"),
        ElementsAre("$.cache.disk.path: missing: write where, such as \"/var/cache/hearsay\"",
                    "$.cache.disk.size: missing: write how much its files may take, such as "
                    "\"20GiB\""));
    EXPECT_THAT(
        errors(R"({"path": "/x", "size": "20 gigs"})"),
        ElementsAre(
            "$.cache.disk.size: \"20 gigs\" is no size; write it like \"512MiB\" (TiB, GiB, MiB, "
            "KiB, TB, GB, MB, KB, B), or a whole number of bytes"));
    for (const std::string size : {"\"255MiB\"", "\"5TiB\"", "0"})
        EXPECT_THAT(errors(R"({"path": "/x", "size": )" + size + "}"),
                    ElementsAre("$.cache.disk.size: must be from 256MiB to 4TiB"));
    EXPECT_THAT(errors(R"({"path": "/x", "size": "1GiB", "sizes": 1})"),
                ElementsAre("$.cache.disk.sizes: unknown key; did you mean \"size\"?"));
}

TEST(ConfigDisk, WantsDirectoriesApartFromOneAnother) {
    const auto both = [](const std::string& a, const std::string& b) {
        return errors(R"([{"path": ")" + a + R"(", "size": "1GiB"}, {"path": ")" + b +
                      R"(", "size": "1GiB"}])");
    };
    EXPECT_THAT(both("/a", "/b"), IsEmpty());
    EXPECT_THAT(both("/a", "/ab"), IsEmpty());
    EXPECT_THAT(both("/a", "/a/"), ElementsAre("$.cache.disk[1].path: is that of $.cache.disk[0] "
                                               "again; each needs a directory of its own"));
    EXPECT_THAT(both("/a", "/a/b"), ElementsAre("$.cache.disk[1].path: is inside that of "
                                                "$.cache.disk[0]; none may be inside another"));
    EXPECT_THAT(both("/a/b", "/"), ElementsAre("$.cache.disk[1].path: has that of $.cache.disk[0] "
                                               "inside; none may be inside another"));
}

TEST(ConfigDisk, TakesSixteenDirectories) {
    const auto list = [](std::size_t count) {
        auto all = json::array();
        for (std::size_t i = 0; i < count; ++i)
            all.push_back({{"path", "/d" + std::to_string(i)}, {"size", "1GiB"}});
        return all.dump();
    };
    EXPECT_THAT(errors(list(16)), IsEmpty());
    EXPECT_THAT(errors(list(17)), ElementsAre("$.cache.disk: must be at most 16 directories"));
}

TEST(ConfigDisk, IsLargeEnoughForItsSegments) {
    EXPECT_GE(kMinDiskBytes / segment_bytes_for(kMinDiskBytes), 8u);
    EXPECT_LE(kMaxDiskBytes / segment_bytes_for(kMaxDiskBytes), 1u << (kNumberBits - 1));
}

TEST(ConfigDisk, IsShownAsItIsRead) {
    const auto config = parse(R"({"path": "/var//cache", "size": 1073741824})").config.value();
    const auto shown = json::parse(effective_config(config));
    EXPECT_EQ(shown["cache"]["disk"], json::parse(R"([{"path": "/var/cache", "size": "1GiB"}])"));
    EXPECT_EQ(shown["cache"]["disk_admission"], "second_request");
}

TEST(ConfigDisk, ChangesItsSizeAndAdmissionWhileTheNodeRuns) {
    const auto from = with({{"/a", 1ull << 30}, {"/b", 1ull << 30}});
    const auto refused = [&](const Config& to) {
        return lines(restart_only(from, to, changed_settings(from, to)));
    };
    auto to = with({{"/a", 2ull << 30}, {"/b", 1ull << 29}});
    to.cache.disk_admission = DiskAdmission::always;
    EXPECT_THAT(changed_settings(from, to), ElementsAre("$.cache.disk", "$.cache.disk_admission"));
    EXPECT_THAT(refused(to), IsEmpty());
    const auto* restart =
        "$.cache.disk: changing the directories needs a restart; changing their sizes does not";
    EXPECT_THAT(refused(with({{"/a", 1ull << 30}})), ElementsAre(restart));
    EXPECT_THAT(refused(with({{"/a", 1ull << 30}, {"/c", 1ull << 30}})), ElementsAre(restart));
    EXPECT_THAT(refused(with({{"/b", 1ull << 30}, {"/a", 1ull << 30}})), ElementsAre(restart));
    EXPECT_THAT(refused(Config()), ElementsAre(restart));
}

TEST(ConfigDisk, RefusesPlacesWhereNoCacheCanBe) {
    const test::TemporaryDirectory folder;
    const auto at = folder.path().string();
    std::ofstream(at + "/file") << "text";
    std::filesystem::create_directory(at + "/real");
    std::filesystem::create_symlink(at + "/real", at + "/link");
    const auto faults = [&](std::initializer_list<std::string> names) {
        std::vector<DiskConfig> disk;
        for (const auto& name : names) disk.push_back({at + name, 1ull << 30});
        return lines(unusable_disks(with(std::move(disk))));
    };
    EXPECT_THAT(faults({"/real"}), IsEmpty());
    EXPECT_THAT(faults({"/new"}), IsEmpty());
    EXPECT_THAT(faults({"/file"}),
                ElementsAre("$.cache.disk.path: " + at +
                            "/file is no directory; name one, or what is not there yet"));
    EXPECT_THAT(faults({"/file/new"}),
                ElementsAre(HasSubstr("$.cache.disk.path: cannot look at ")));
    std::filesystem::create_symlink(at + "/gone", at + "/dangling");
    EXPECT_THAT(faults({"/dangling"}), ElementsAre(HasSubstr("/dangling is a link to nothing")));
    std::filesystem::create_directories(at + "/home/lost+found");
    std::filesystem::create_directories(at + "/home/.snapshot/hourly.0");
    EXPECT_THAT(faults({"/home"}), IsEmpty());
    std::ofstream(at + "/home/letter") << "text";
    EXPECT_THAT(faults({"/home"}), ElementsAre("$.cache.disk.path: " + at +
                                               "/home holds other files (letter); name an empty "
                                               "directory, or what is not there yet"));
    std::filesystem::create_directory(at + "/first");
    std::ofstream(at + "/first/" + SuperFile::kSecretName) << "secret";
    EXPECT_THAT(faults({"/first"}), IsEmpty()) << "may come before the cache";
    EXPECT_THAT(faults({"/no/such"}), ElementsAre("$.cache.disk.path: there is no directory " + at +
                                                  "/no to make it in; make it first"));
    EXPECT_THAT(faults({"/real", "/link"}),
                ElementsAre("$.cache.disk[1].path: is " + at + "/real by another name"));
}

// `check` and `run` say the same of every content of a directory.
TEST(ConfigDisk, TakesForACacheWhatANodeTakesForOne) {
    const test::TemporaryDirectory folder;
    const auto at = folder.path().string();
    DiskCalls calls;
    const auto make = [&](const std::string& name) {
        std::filesystem::create_directory(at + name);
        EXPECT_TRUE(SuperFile::take(calls, at + name, 1));
        return at + name;
    };
    const auto super = [](const std::string& of) { return of + "/" + SuperFile::kName; };
    const auto good = make("/good"), newer = make("/newer"), spoilt = make("/spoilt"),
               other = make("/other"), empty = make("/empty"), alone = make("/alone");
    test::overwrite(super(newer), 22, "\x09");
    test::spoil(super(spoilt), 30);
    std::ofstream(super(other)) << std::string(512, 'x');
    std::ofstream(super(empty)) << "";
    std::filesystem::remove(super(alone));
    std::ofstream(alone + "/" + segment_name(1)) << "";
    std::ofstream(good + "/letter") << "text";
    for (const auto& directory : {good, newer, spoilt, other, empty, alone}) {
        const auto faults = lines(unusable_disks(with({{directory, 1ull << 30}})));
        const auto taken = SuperFile::take(calls, directory, 1);
        EXPECT_EQ(faults.empty(), taken.has_value()) << directory;
        if (!taken && taken.error() != DiskError::foreign) {
            EXPECT_THAT(faults, ElementsAre(HasSubstr(taken.error().message())));
        }
    }
    // Its segments have lost their super file.
    EXPECT_THAT(lines(unusable_disks(with({{alone, 1ull << 30}}))), IsEmpty());
    // So has another key, which would only show at the start.
    auto of_another = with({{good, 1ull << 30}});
    of_another.cluster.emplace().keys = {std::string(32, 'k')};
    EXPECT_THAT(lines(unusable_disks(of_another)),
                ElementsAre(HasSubstr("written under another cluster key")));
}

// A node with several disks does not stay down for one that broke; for a mistake it does.
TEST(ConfigDisk, BeginsWithoutADiskThatFailed) {
    const test::TemporaryDirectory folder;
    DiskCalls calls;
    std::vector<DiskConfig> disk;
    for (const auto* name : {"/good", "/spoilt", "/new"}) {
        disk.push_back({folder.path().string() + name, 1ull << 30});
        if (disk.size() == 3) break;
        std::filesystem::create_directory(disk.back().path);
        ASSERT_TRUE(SuperFile::take(calls, disk.back().path, 1));
    }
    test::spoil(disk[1].path + "/" + SuperFile::kName, 30);
    const auto why = "$.cache.disk[1].path: " + disk[1].path + ": " +
                     make_error_code(DiskError::bad_checksum).message();
    EXPECT_THAT(lines(unusable_disks(with(disk))), IsEmpty());
    EXPECT_THAT(lines(make_disks(with(disk))), IsEmpty());
    EXPECT_TRUE(std::filesystem::exists(disk[2].path));
    EXPECT_THAT(lines(doubtful_disks(with(disk))),
                testing::Contains(why + ": the node begins without it, and what it holds is lost; "
                                        "replace the disk, or empty the directory"));
    std::ofstream(disk[2].path + "/letter") << "text";
    EXPECT_THAT(lines(unusable_disks(with(disk))),
                ElementsAre(HasSubstr("$.cache.disk[2].path: ")));
    EXPECT_THAT(lines(unusable_disks(with({disk[1]}))), ElementsAre(HasSubstr("$.cache.disk.path")))
        << "there is no other";
}

TEST(ConfigDisk, MakesWhatIsNotThere) {
    const test::TemporaryDirectory folder;
    const auto at = folder.path().string();
    EXPECT_THAT(make_disks(with({{at, 1ull << 30}, {at + "/new", 1ull << 30}})), IsEmpty());
    const auto made = std::filesystem::status(at + "/new");
    EXPECT_TRUE(std::filesystem::is_directory(made));
    EXPECT_EQ(made.permissions() & std::filesystem::perms::others_all,
              std::filesystem::perms::none);
    EXPECT_THAT(
        lines(make_disks(with({{at + "/no/such", 1ull << 30}}))),
        ElementsAre(HasSubstr("$.cache.disk.path: cannot make " + at + "/no/such: No such")));
}

TEST(ConfigDisk, RefusesPlacesThatThisUserCannotWriteTo) {
    const test::TemporaryDirectory folder;
    const auto at = folder.path().string();
    using std::filesystem::perms;
    // A user other than root may still be of its group.
    const auto read_only = perms(0555);
    std::filesystem::create_directory(at + "/old");
    std::filesystem::permissions(at + "/old", read_only);
    std::filesystem::permissions(at, read_only);
    constexpr uid_t kNobody = 65534;
    const auto root = ::geteuid() == 0;  // who may write everywhere
    if (root) {
        ASSERT_EQ(::seteuid(kNobody), 0);
    }
    const auto found =
        lines(unusable_disks(with({{at + "/old", 1ull << 30}, {at + "/new", 1ull << 30}})));
    if (root) {
        ASSERT_EQ(::seteuid(0), 0);
    }
    std::filesystem::permissions(at, perms::owner_all);
    std::filesystem::permissions(at + "/old", perms::owner_all);
    EXPECT_THAT(
        found,
        ElementsAre("$.cache.disk[0].path: cannot write to " + at +
                        "/old: Permission denied; it must belong to the user that runs hearsay",
                    "$.cache.disk[1].path: cannot make " + at +
                        "/new: Permission denied; make it, and give it to the user that runs "
                        "hearsay"));
}

/// The statements about `disk`, except for the kind of file system that tests happen to run on.
std::vector<std::string> doubts_of(const std::vector<DiskConfig>& disk) {
    auto found = doubtful_disks(with(disk));
    std::erase_if(found, [](const auto& each) {
        return each.message.starts_with("is in memory") ||
               each.message.starts_with("is on overlayfs");
    });
    return lines(found);
}

TEST(ConfigDisk, DoubtsMoreThanTheFileSystemHas) {
    const test::TemporaryDirectory folder;
    const auto at = folder.path().string();
    const auto has = std::filesystem::space(at).capacity;
    EXPECT_THAT(doubts_of({{at, 1}}), IsEmpty());
    EXPECT_THAT(doubts_of({{at, has + 1}}),
                ElementsAre(HasSubstr("$.cache.disk.size: is more than the file system has (")));
    std::filesystem::create_directory(at + "/a");
    std::filesystem::create_directory(at + "/b");
    EXPECT_THAT(doubts_of({{at + "/a", has}, {at + "/b", 1}}),
                ElementsAre(HasSubstr(
                    "$.cache.disk[0].size: is, with the others there, more than the file system")));
    EXPECT_THAT(
        doubts_of({{at + "/new", has + 1}}),
        ElementsAre("$.cache.disk.path: " + at + "/new is not there yet; it is made at the start",
                    HasSubstr("is more than the file system has")));
}

TEST(ConfigDisk, DoubtsMoreThanIsFree) {
    const test::TemporaryDirectory folder;
    const auto at = folder.path().string();
    const auto all = std::filesystem::space(at);
    if (all.available == all.capacity) GTEST_SKIP() << "an empty file system";
    EXPECT_THAT(
        doubts_of({{at, all.capacity}}),
        ElementsAre(HasSubstr("$.cache.disk.size: is more than is free on the file system")));
}

TEST(ConfigDisk, CountsWhatACacheHasAlreadyAsFree) {
    const test::TemporaryDirectory folder;
    DiskCalls calls;
    ASSERT_TRUE(SuperFile::take(calls, folder.path(), 1));
    constexpr std::uint64_t kTaken = 64 << 20;
    const auto file = folder.path() / segment_name(1);
    std::ofstream(file) << "";
    const int fd = ::open(file.c_str(), O_WRONLY);
    ASSERT_EQ(::posix_fallocate(fd, 0, kTaken), 0);
    ::close(fd);
    // Others write there, too, so the free space is known to half of that.
    const auto free = std::filesystem::space(folder.path()).available;
    EXPECT_THAT(doubts_of({{folder.path().string(), free + kTaken / 2}}), IsEmpty());
}

TEST(ConfigDisk, DoubtsOtherFilesBesideACache) {
    const test::TemporaryDirectory folder;
    DiskCalls calls;
    ASSERT_TRUE(SuperFile::take(calls, folder.path(), 1));
    std::ofstream(folder.path() / segment_name(1)) << "";
    std::ofstream(folder.path() / SuperFile::kJournalName) << "";
    std::filesystem::create_directory(folder.path() / "lost+found");
    EXPECT_THAT(doubts_of({{folder.path().string(), 1}}), IsEmpty());
    std::ofstream(folder.path() / "letter") << "text";
    EXPECT_THAT(doubts_of({{folder.path().string(), 1}}),
                ElementsAre(HasSubstr("holds letter, which is not of a cache")));
}

TEST(ConfigDisk, DoubtsFileSystemsThatDoNotLast) {
    EXPECT_THAT(std::string(passing_file_system(TMPFS_MAGIC)), HasSubstr("is in memory"));
    EXPECT_THAT(std::string(passing_file_system(OVERLAYFS_SUPER_MAGIC)), HasSubstr("a volume"));
    EXPECT_EQ(passing_file_system(EXT4_SUPER_MAGIC), "");
    EXPECT_EQ(passing_file_system(XFS_SUPER_MAGIC), "");
}

TEST(ConfigDisk, DoubtsLessThanMemory) {
    auto config = parse(R"({"path": "/a", "size": "256MiB"})").config.value();
    EXPECT_THAT(doubts(config), IsEmpty());
    config.cache.memory = 257ull << 20;
    EXPECT_THAT(
        lines(doubts(config)),
        ElementsAre("$.cache.disk: the disk is smaller than cache.memory (257MiB), so part of "
                    "the memory's content is lost at a restart"));
}

}  // namespace config_disk_test
}  // namespace proxy
