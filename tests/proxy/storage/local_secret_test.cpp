#include "proxy/storage/local_secret.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <fstream>
#include <set>
#include <thread>

#include "proxy/disk/super_file.hpp"
#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy {
namespace local_secret_test {

using testing::HasSubstr;
using testing::ThrowsMessage;

class LocalSecretTest : public testing::Test {
protected:
    std::filesystem::path file() const { return directory_.path() / SuperFile::kSecretName; }
    auto secret() const { return local_secret(std::array{directory_.path()}); }
    auto secret_of_both() const {
        return local_secret(std::array{directory_.path(), other_.path()});
    }
    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator(directory_.path()), {}));
    }

    test::TemporaryDirectory directory_, other_;
};

TEST_F(LocalSecretTest, IsMadeOnceAndStays) {
    const auto first = secret();
    EXPECT_EQ(secret(), first);
    EXPECT_NE(local_secret(std::array{other_.path()}), first);
    EXPECT_EQ(files(), 1U);
    struct stat what {};
    ASSERT_EQ(::stat(file().c_str(), &what), 0);
    EXPECT_EQ(what.st_mode & 0777U, 0600U);
}

TEST_F(LocalSecretTest, TwoThatStartAtOnceHaveTheSame) {
    std::array<protocol::HashSecret, 8> secrets;
    {
        std::vector<std::jthread> starts;
        for (auto& each : secrets) starts.emplace_back([&] { each = secret(); });
    }
    EXPECT_EQ(std::set(secrets.begin(), secrets.end()).size(), 1U);
    EXPECT_EQ(files(), 1U);
}

// A disk that is replaced takes no other disk's cache with it.
TEST_F(LocalSecretTest, IsTheSameInAllDirectories) {
    const auto first = secret_of_both();
    std::filesystem::remove(file());
    EXPECT_EQ(secret_of_both(), first);
    std::filesystem::remove(other_.path() / SuperFile::kSecretName);
    EXPECT_EQ(secret_of_both(), first);
    EXPECT_EQ(local_secret(std::array{other_.path()}), first);
}

TEST_F(LocalSecretTest, ReportsDirectoriesOfTwoCaches) {
    (void)secret();
    (void)local_secret(std::array{other_.path()});
    EXPECT_THAT([&] { (void)secret_of_both(); },
                ThrowsMessage<std::runtime_error>(HasSubstr("they are of two caches")));
}

TEST_F(LocalSecretTest, IsNotBelievedWhenItIsSomethingElse) {
    std::ofstream(file()) << "short";
    std::filesystem::permissions(file(), std::filesystem::perms::owner_all);
    EXPECT_THAT([&] { (void)secret(); },
                ThrowsMessage<std::runtime_error>(HasSubstr("has 5 bytes, not 192")));
    std::filesystem::remove(file());
    std::filesystem::create_directory(file());
    std::filesystem::permissions(file(), std::filesystem::perms::owner_all);
    EXPECT_THAT([&] { (void)secret(); }, ThrowsMessage<std::runtime_error>(HasSubstr("no file")));
}

TEST_F(LocalSecretTest, IsNoSecretWhenEverybodyMayReadIt) {
    const auto first = secret();
    using std::filesystem::perms;
    std::filesystem::permissions(file(), perms::owner_read | perms::group_read);
    EXPECT_EQ(secret(), first);
    std::filesystem::permissions(file(), perms::owner_read | perms::others_read);
    EXPECT_THAT([&] { (void)secret(); },
                ThrowsMessage<std::runtime_error>(HasSubstr("everybody on this machine")));
}

TEST_F(LocalSecretTest, ReportsAMissingDirectory) {
    EXPECT_THAT([&] { (void)local_secret(std::array{directory_.path() / "none"}); },
                ThrowsMessage<std::runtime_error>(HasSubstr("No such file or directory")));
}

TEST_F(LocalSecretTest, IsGivenToADirectoryThatWasEmptiedMeanwhile) {
    const auto first = secret();
    std::filesystem::remove(file());
    restore_local_secret(directory_.path(), first);
    EXPECT_EQ(secret(), first);
    EXPECT_EQ(files(), 1U);
    restore_local_secret(directory_.path(), first);
    EXPECT_EQ(secret(), first);
    const auto another = local_secret(std::array{other_.path()});
    EXPECT_THAT([&] { restore_local_secret(directory_.path(), another); },
                ThrowsMessage<std::runtime_error>(HasSubstr("is not the secret")));
    EXPECT_EQ(secret(), first);
}

TEST_F(LocalSecretTest, MayStandInADirectoryBeforeItIsTaken) {
    (void)secret();
    DiskCalls calls;
    EXPECT_TRUE(SuperFile::take(calls, directory_.path(), 1));
}

}  // namespace local_secret_test
}  // namespace proxy
