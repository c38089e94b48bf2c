#include "proxy/blocklists/unlinked_file.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/disk_kit.hpp"

namespace proxy {
namespace unlinked_file_test {

TEST(UnlinkedFile, HasNoNameAndOutlivesItsDescriptorInAMapping) {
    const test::TemporaryDirectory folder;
    FileMapping mapping;
    {
        UnlinkedFile file;
        ASSERT_FALSE(file.open(folder.path()));
        EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
        ASSERT_FALSE(file.append("one "));
        ASSERT_FALSE(file.append("two"));
        EXPECT_EQ(file.bytes(), 7u);
        std::string all = "all: ";
        ASSERT_FALSE(file.read(all));
        EXPECT_EQ(all, "all: one two");
        ASSERT_FALSE(mapping.map(file));
    }
    EXPECT_EQ(mapping.bytes(), "one two");
    mapping.release();
    EXPECT_EQ(mapping.bytes(), "one two") << "it is read again";
    FileMapping other = std::move(mapping);
    EXPECT_EQ(other.bytes(), "one two");
    EXPECT_TRUE(mapping.bytes().empty());
}

TEST(UnlinkedFile, MayBeEmpty) {
    const test::TemporaryDirectory folder;
    UnlinkedFile file;
    ASSERT_FALSE(file.open(folder.path()));
    FileMapping mapping;
    ASSERT_FALSE(mapping.map(file));
    EXPECT_TRUE(mapping.bytes().empty());
    mapping.release();
}

TEST(UnlinkedFile, SaysThatItsFolderIsMissing) {
    UnlinkedFile file;
    EXPECT_EQ(file.open("/nowhere/at/all"), std::errc::no_such_file_or_directory);
    EXPECT_FALSE(file.is_open());
    EXPECT_EQ(file.append("x"), std::errc::bad_file_descriptor);
}

}  // namespace unlinked_file_test
}  // namespace proxy
