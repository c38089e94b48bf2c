#include "base/async/file_watch.hpp"

#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <fstream>

#include "tests/temporary_directory.hpp"

namespace base {
namespace file_watch_test {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

class FileWatched : public testing::Test {
protected:
    void write(const fs::path& file, std::string_view text = "x") const {
        std::ofstream(file) << text;
    }
    void rename(const fs::path& from, const fs::path& to) const { fs::rename(from, to); }

    void watch(std::vector<fs::path> files) {
        const auto error = watch_.watch(files);
        EXPECT_FALSE(error) << error.message();
        noticed();  // what the watch itself has caused
    }
    /// Whether a change is there. The kernel queues it before the call that makes it returns.
    bool noticed() {
        const auto before = changes_;
        for (int round = 0; round < 2; ++round) {  // one for the event, one for its handler
            io_.restart();
            io_.poll();
        }
        return changes_ > before;
    }

    proxy::test::TemporaryDirectory temporary_;
    const fs::path folder_ = fs::canonical(temporary_.path());
    boost::asio::io_context io_{1};
    int changes_ = 0;
    FileWatch watch_{io_.get_executor(), [this] { ++changes_; }};
};

TEST_F(FileWatched, NoticesAFileThatIsWrittenInPlace) {
    write(folder_ / "a.pem");
    watch({folder_ / "a.pem"});
    EXPECT_FALSE(noticed());
    write(folder_ / "a.pem", "other");
    EXPECT_TRUE(noticed());
    EXPECT_FALSE(noticed());
}

TEST_F(FileWatched, NoticesARename) {
    write(folder_ / "a.pem");
    watch({folder_ / "a.pem"});
    write(folder_ / "new");
    noticed();
    rename(folder_ / "new", folder_ / "a.pem");
    EXPECT_TRUE(noticed());
    write(folder_ / "a.pem", "the folder is what is watched");
    EXPECT_TRUE(noticed());
}

TEST_F(FileWatched, NoticesAFileThatAppears) {
    watch({folder_ / "a.pem"});
    write(folder_ / "a.pem");
    EXPECT_TRUE(noticed());
}

TEST_F(FileWatched, NoticesAFileInPlaceOfAFolderOfItsName) {
    fs::create_directory(folder_ / "list");
    watch({folder_ / "list"});
    fs::remove(folder_ / "list");
    write(folder_ / "list");
    EXPECT_TRUE(noticed());
}

TEST_F(FileWatched, FollowsTheLinksOfKubernetes) {
    fs::create_directory(folder_ / "..1");
    fs::create_directory(folder_ / "..2");
    write(folder_ / "..1" / "tls.crt");
    write(folder_ / "..2" / "tls.crt");
    fs::create_symlink("..1", folder_ / "..data");
    fs::create_symlink("..data/tls.crt", folder_ / "tls.crt");
    const std::vector<fs::path> files{folder_ / "tls.crt"};
    EXPECT_THAT(folders_on_the_way(files[0]), UnorderedElementsAre(folder_, folder_ / "..1"));
    watch(files);
    fs::create_symlink("..2", folder_ / "..data_tmp");
    rename(folder_ / "..data_tmp", folder_ / "..data");
    EXPECT_TRUE(noticed());
    watch(files);
    EXPECT_EQ(watch_.folders(), 2u);
    write(folder_ / "..1" / "tls.crt", "nobody looks there any more");
    EXPECT_FALSE(noticed());
    write(folder_ / "..2" / "tls.crt", "new");
    EXPECT_TRUE(noticed());
}

TEST_F(FileWatched, FollowsTheLinksOfCertbot) {
    fs::create_directories(folder_ / "archive" / "a");
    fs::create_directories(folder_ / "live" / "a");
    const auto link = folder_ / "live" / "a" / "cert.pem";
    write(folder_ / "archive" / "a" / "cert1.pem");
    fs::create_symlink("../../archive/a/cert1.pem", link);
    EXPECT_THAT(folders_on_the_way(link),
                UnorderedElementsAre(folder_ / "live" / "a", folder_ / "archive" / "a"));
    watch({link});
    fs::remove(link);
    fs::create_symlink("../../archive/a/cert2.pem", link);
    EXPECT_TRUE(noticed());
    watch({link});
    write(folder_ / "archive" / "a" / "cert2.pem");
    EXPECT_TRUE(noticed());
}

TEST_F(FileWatched, FindsTheFoldersOnTheWay) {
    fs::create_directory(folder_ / "real");
    write(folder_ / "real" / "a.pem");
    fs::create_symlink(folder_ / "real", folder_ / "link");
    EXPECT_THAT(folders_on_the_way(folder_ / "link" / "a.pem"),
                UnorderedElementsAre(folder_, folder_ / "real"));
    EXPECT_THAT(folders_on_the_way(folder_ / "none" / "deeper" / "a.pem"), ElementsAre(folder_))
        << "where the missing folder would appear";
    EXPECT_THAT(folders_on_the_way(folder_ / "real" / "." / ".." / "real" / "a.pem"),
                ElementsAre(folder_ / "real"));
    fs::create_symlink("circle", folder_ / "circle");
    EXPECT_THAT(folders_on_the_way(folder_ / "circle"), ElementsAre(folder_));
}

TEST(FileWatch, NamesTheLimitsOfTheKernel) {
    const auto text = [](std::errc error) { return watch_error_text(std::make_error_code(error)); };
    EXPECT_THAT(text(std::errc::no_space_on_device), testing::HasSubstr("max_user_watches"));
    EXPECT_THAT(text(std::errc::too_many_files_open), testing::HasSubstr("max_user_instances"));
    EXPECT_EQ(text(std::errc::permission_denied), "Permission denied");
}

}  // namespace file_watch_test
}  // namespace base
