#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>

#include "proxy/blocklists/read_blocklists.hpp"
#include "tests/proxy/disk/disk_kit.hpp"

namespace proxy::test {

/// Lists in a folder of this test, and the settings that name them.
class ListFolder {
public:
    ListFolder() {
        forward.enabled = true;
        forward.blocklist_folder = folder_.path();
    }

    std::string path(const std::string& name) const { return folder_.path() / name; }
    /// Writes a file as tools do that replace it.
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name + ".new"), std::ios::binary) << text;
        std::filesystem::rename(path(name + ".new"), path(name));
    }
    void add(const std::string& name, BlocklistFormat format, const std::string& text,
             BlocklistAction action = BlocklistAction::refuse) {
        write(name, text);
        forward.blocklists.push_back({path(name), format, action});
    }
    std::shared_ptr<const Blocklists> read() const {
        auto result = read_blocklists(forward);
        EXPECT_EQ(describe(result.errors), "");
        return result.lists;
    }
    static constexpr auto kHosts = BlocklistFormat::hosts, kDomains = BlocklistFormat::domains,
                          kDstdomain = BlocklistFormat::dstdomain, kUrls = BlocklistFormat::urls;

    ForwardConfig forward;

private:
    TemporaryDirectory folder_;
};

}  // namespace proxy::test
