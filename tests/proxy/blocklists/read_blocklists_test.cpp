#include "proxy/blocklists/read_blocklists.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "proxy/rewrite/gzip_stream.hpp"
#include "tests/proxy/blocklists/blocklist_kit.hpp"

namespace proxy {
namespace read_blocklists_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::string_literals;

class ReadBlocklists : public testing::Test, protected test::ListFolder {
protected:
    static std::vector<std::string> texts(const std::vector<ConfigError>& all) {
        std::vector<std::string> out;
        for (const auto& each : all) out.push_back(each.path + ": " + each.message);
        return out;
    }
};

TEST_F(ReadBlocklists, ReadsNothingWithoutListsOrForwardProxy) {
    EXPECT_FALSE(read_blocklists(forward).lists);
    add("d", kDomains, "example.com\n");
    forward.enabled = false;
    const auto result = read_blocklists(forward);
    EXPECT_FALSE(result.lists);
    EXPECT_THAT(result.errors, IsEmpty());
}

TEST_F(ReadBlocklists, NamesEachFileThatIsMissingAndWhatToDo) {
    add("d", kDomains, "example.com\n");
    forward.blocklists.push_back({path("one"), kHosts});
    forward.blocklists.push_back({path("two"), kUrls});
    const auto result = read_blocklists(forward);
    EXPECT_FALSE(result.lists);
    EXPECT_THAT(texts(result.errors),
                ElementsAre("$.forward.blocklists[1].path: cannot read " + path("one") +
                                ": No such file or directory; put the list there, or take the "
                                "entry out",
                            HasSubstr(path("two"))));
}

TEST_F(ReadBlocklists, RefusesWhatIsNoRegularFile) {
    ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
    forward.blocklists = {{path("fifo"), kHosts}, {"/dev/zero", kHosts}, {"/tmp", kHosts}};
    EXPECT_THAT(texts(read_blocklists(forward).errors),
                ElementsAre(HasSubstr("is no regular file"), HasSubstr("is no regular file"),
                            HasSubstr("is no regular file")));
}

TEST_F(ReadBlocklists, NamesAFolderThatCannotBeWritten) {
    add("d", kDomains, "example.com\n");
    forward.blocklist_folder = "/nowhere";
    EXPECT_THAT(texts(read_blocklists(forward).errors),
                ElementsAre("$.forward.blocklist_folder: cannot create a file in /nowhere: No such "
                            "file or directory"));
}

TEST_F(ReadBlocklists, LeavesMalformedLinesOutAndNamesTheFirstOfThem) {
    std::string text = "good.example\nbad line\n\nalso/bad\n";
    for (int i = 0; i < 10; ++i) text += "..\n";
    add("d", kDomains, text + "last.example");
    const auto result = read_blocklists(forward);
    ASSERT_TRUE(result.lists);
    const auto& facts = result.lists->lists().front();
    EXPECT_EQ(facts.entries, 2u);
    EXPECT_EQ(facts.malformed, 12u);
    EXPECT_THAT(
        texts(result.warnings),
        ElementsAre("$.forward.blocklists[0]: " + path("d") +
                    ": 12 malformed lines are left out, as the list has the format domains, "
                    "line 2: more than one word, line 4: no host name, line 5: no host name, line "
                    "6: no host name, "
                    "line 7: no host name, ..."));
    EXPECT_TRUE(result.lists->find("last.example", "/").refused) << "without a newline";
    EXPECT_EQ(result.lists->find("last.example", "/").refused->line, 15u);
}

TEST_F(ReadBlocklists, ReadsGzip) {
    std::string code, lines;
    for (int i = 0; i < 200'000; ++i) lines += "host" + std::to_string(i) + ".example\n";
    GzipEncoder encoder;
    ASSERT_TRUE(encoder.encode(lines, true, code));
    add("d", kDomains, code);
    const auto result = read_blocklists(forward);
    ASSERT_TRUE(result.lists) << describe(result.errors);
    EXPECT_EQ(result.lists->lists().front().entries, 200'000u);
    EXPECT_EQ(result.lists->find("host199999.example", "/").refused->line, 200'000u);
    write("d", code.substr(0, code.size() / 2));
    EXPECT_THAT(texts(read_blocklists(forward).errors),
                ElementsAre(HasSubstr("its gzip data is damaged or ends too early")));
    code[code.size() / 2] ^= 1;
    write("d", code);
    EXPECT_THAT(texts(read_blocklists(forward).errors), ElementsAre(HasSubstr("is damaged")));
}

TEST_F(ReadBlocklists, RefusesWhatIsNoList) {
    for (const std::string& text :
         {"<!DOCTYPE html>\n<p>good.example\n"s, "\xef\xbb\xbf \n<html>"s, "PK\3\4\0\0x"s}) {
        forward.blocklists.clear();
        add("d", kDomains, text);
        EXPECT_THAT(read_blocklists(forward).errors, testing::SizeIs(1)) << text;
    }
}

TEST_F(ReadBlocklists, KeepsAListWhoseSuccessorIsNone) {
    add("d", kDomains, "example.com\n");
    add("e", kDomains, "example.org\n");
    const auto first = read_blocklists(forward);
    ASSERT_TRUE(first.lists);
    for (const auto* text : {"", "<html>\n", "404: Not Found\n", "{\"error\": 1}\n"}) {
        write("d", text);
        const auto next = read_blocklists(forward, first.lists);
        EXPECT_FALSE(next.lists) << text;
        EXPECT_THAT(texts(next.errors),
                    ElementsAre(HasSubstr("$.forward.blocklists[0]: " + path("d"))));
        EXPECT_THAT(first.lists->faults(), ElementsAre(HasSubstr(path("d")), ""));
    }
    write("d", "# empty on purpose\n");
    const auto last = read_blocklists(forward, first.lists);
    ASSERT_TRUE(last.lists) << describe(last.errors);
    EXPECT_FALSE(last.lists->find("example.com", "/").refused);
    EXPECT_THAT(first.lists->faults(), ElementsAre("", ""));
}

TEST_F(ReadBlocklists, WarnsOfAListWithoutEntries) {
    add("d", kUrls, "# nothing\n");
    EXPECT_THAT(texts(read_blocklists(forward).warnings),
                ElementsAre("$.forward.blocklists[0]: " + path("d") +
                            " has no entries of the format urls, so it refuses nothing: is its "
                            "`format` another one (hosts, domains, urls)?"));
}

TEST_F(ReadBlocklists, ReadsLinesWhereverTheBytesOfTheFileAreCut) {
    std::string text = "\xef\xbb\xbf";  // a byte order mark
    std::uint32_t lines = 0;
    while (text.size() < (3u << 20)) text += "host" + std::to_string(lines++) + ".example\r\n";
    text += std::string(5u << 20, 'x') + "\n";  // a line above every buffer
    text += "after.example\n";
    text += std::string(9000, 'y') + "\n" + std::string("nul\0.example\n", 13) + "end.example\n";
    add("d", kDomains, text);
    const auto result = read_blocklists(forward);
    ASSERT_TRUE(result.lists);
    EXPECT_EQ(result.lists->lists().front().entries, lines + 2);
    EXPECT_EQ(result.lists->lists().front().malformed, 3u);
    EXPECT_THAT(texts(result.warnings),
                ElementsAre(HasSubstr("line " + std::to_string(lines + 1) + ": too long")));
    for (std::uint32_t i = 0; i < lines; i += 997) {
        const auto found = result.lists->find("host" + std::to_string(i) + ".example", "/");
        ASSERT_TRUE(found.refused) << i;
        EXPECT_EQ(found.refused->line, i + 1);
    }
    EXPECT_EQ(result.lists->find("after.example", "/").refused->line, lines + 2);
    EXPECT_EQ(result.lists->find("end.example", "/").refused->line, lines + 5);
}

TEST_F(ReadBlocklists, TakesUnchangedListsAgain) {
    add("d", kDomains, "example.com\n");
    const auto first = read_blocklists(forward);
    EXPECT_TRUE(first.is_new);
    EXPECT_FALSE(have_changed(*first.lists));
    const auto again = read_blocklists(forward, first.lists);
    EXPECT_EQ(again.lists, first.lists);
    EXPECT_FALSE(again.is_new);

    write("d", "example.org\n");
    EXPECT_TRUE(have_changed(*first.lists));
    const auto changed = read_blocklists(forward, first.lists);
    EXPECT_TRUE(changed.is_new);
    EXPECT_TRUE(changed.lists->find("example.org", "/").refused);
    EXPECT_FALSE(changed.lists->find("example.com", "/").refused);

    forward.blocklists.front().action = BlocklistAction::log;
    EXPECT_TRUE(read_blocklists(forward, changed.lists).is_new);
    std::filesystem::remove(path("d"));
    EXPECT_TRUE(have_changed(*changed.lists));
    EXPECT_FALSE(read_blocklists(forward, changed.lists).lists);
}

TEST_F(ReadBlocklists, StopsWhenAskedTo) {
    std::string text;
    for (int i = 0; i < 10'000; ++i) text += "host" + std::to_string(i) + ".example\n";
    add("d", kDomains, text);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THAT(texts(read_blocklists(forward, nullptr, stop.get_token()).errors),
                ElementsAre(HasSubstr("stopped")));
}

TEST_F(ReadBlocklists, ChoosesAFolderThatCanBeWritten) {
    forward.blocklist_folder = "/some/where";
    EXPECT_EQ(list_folder(forward), "/some/where");
    forward.blocklist_folder.clear();
    EXPECT_EQ(::access(list_folder(forward).c_str(), W_OK), 0);
}

}  // namespace read_blocklists_test
}  // namespace proxy
