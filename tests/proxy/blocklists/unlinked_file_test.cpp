#include "proxy/blocklists/unlinked_file.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy {
namespace unlinked_file_test {

TEST(UnlinkedFile, HasNoNameAndGivesAnyPart) {
    const test::TemporaryDirectory folder;
    UnlinkedFile file;
    ASSERT_FALSE(file.open(folder.path()));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    ASSERT_FALSE(file.append("one "));
    ASSERT_FALSE(file.append("two"));
    EXPECT_EQ(file.bytes(), 7u);
    std::string all = "all: ";
    ASSERT_FALSE(file.read(all));
    EXPECT_EQ(all, "all: one two");
    std::string part;
    const UnlinkedFile moved = std::move(file);
    ASSERT_FALSE(moved.read(2, 3, part));
    EXPECT_EQ(part, "e t");
    EXPECT_EQ(moved.read(5, 3, part), std::errc::io_error) << "it ends before";
}

TEST(UnlinkedFile, MayBeEmpty) {
    const test::TemporaryDirectory folder;
    UnlinkedFile file;
    ASSERT_FALSE(file.open(folder.path()));
    std::string all;
    ASSERT_FALSE(file.read(all));
    EXPECT_EQ(all, "");
}

TEST(UnlinkedFile, SaysThatItsFolderIsMissing) {
    UnlinkedFile file;
    EXPECT_EQ(file.open("/nowhere/at/all"), std::errc::no_such_file_or_directory);
    EXPECT_FALSE(file.is_open());
    EXPECT_EQ(file.append("x"), std::errc::bad_file_descriptor);
}

}  // namespace unlinked_file_test
}  // namespace proxy
