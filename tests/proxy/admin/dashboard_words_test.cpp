// The dashboard explains every word that a node may send it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/links/cluster_status.hpp"
#include "protocol/wire/error.hpp"
#include "proxy/admin/dashboard_files.hpp"
#include "proxy/disk/disk_status.hpp"
#include "proxy/fetch/explain_plan.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/telemetry/counters.hpp"
#include "proxy/upstream/peer_head_request.hpp"

namespace proxy {
namespace dashboard_words_test {

/// The text of words.js between the braces of `export const NAME = {`, or its brackets.
std::string_view table(std::string_view name) {
    for (const auto& file : dashboard_files()) {
        if (file.name != "words.js") continue;
        const std::string_view text = file.content;
        const auto begin = text.find("export const " + std::string(name) + " = ");
        if (begin == std::string_view::npos) return {};
        return text.substr(begin, text.find(";\n", begin) - begin);
    }
    return {};
}

bool has(std::string_view name, std::string_view word) {
    const auto text = table(name);
    const auto key = std::string(word) + ':', item = "'" + std::string(word) + "'";
    if (text.find(item) != std::string_view::npos && name == "OUTCOMES") return true;
    for (auto at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1))
        if (const auto before = static_cast<unsigned char>(text[at - 1]);
            !std::isalnum(before) && before != '_' && before != '\'')
            return true;
    return false;
}

TEST(DashboardWords, ExplainOutcomesVerdictsAndRefusals) {
    ASSERT_FALSE(table("OUTCOMES").empty());
    for (const auto word : kWordsOf<Outcome>) {
        EXPECT_TRUE(has("OUTCOMES", word)) << word;
        EXPECT_TRUE(has("OUTCOME_NAMES", word)) << word;
    }
    for (const auto word : kWordsOf<RequestRefusal>) EXPECT_TRUE(has("REFUSALS", word)) << word;
    for (const auto word : kWordsOf<StorageVerdict>) EXPECT_TRUE(has("VERDICTS", word)) << word;
    EXPECT_FALSE(has("REFUSALS", "no_such_word"));
}

TEST(DashboardWords, ExplainNodesLinksAndDisks) {
    for (const auto* word :
         {"ready", "not_ready", "draining", "no_report", "refused", "silent", "down"})
        EXPECT_TRUE(has("NODE_STATES", word)) << word;
    const auto last = static_cast<int>(protocol::PeerState::refused);
    for (int i = 0; i <= last; ++i) {
        const auto word = protocol::name(static_cast<protocol::PeerState>(i));
        EXPECT_TRUE(has("LINK_STATES", word)) << word;
    }
    using State = DiskStatus::State;
    for (const auto state :
         {State::loading, State::ready, State::stalled, State::paused, State::off})
        EXPECT_TRUE(has("DISK_STATES", name(state))) << name(state);
}

TEST(DashboardWords, ExplainWhyALinkEndedOrWasRefused) {
    using protocol::Error;
    constexpr std::array kOrdinary{Error::goodbye,          Error::superseded,
                                   Error::restarted,        Error::replaced,
                                   Error::no_peer_any_more, Error::reached_elsewhere};
    const auto explain = [&](Error first, Error last) {
        for (auto i = static_cast<int>(first); i <= static_cast<int>(last); ++i) {
            const auto error = static_cast<Error>(i);
            if (std::find(kOrdinary.begin(), kOrdinary.end(), error) == kOrdinary.end())
                EXPECT_TRUE(has("LINK_REASONS", name(error))) << name(error);
        }
    };
    for (auto i = 1; i <= static_cast<int>(base::Error::last); ++i)
        EXPECT_TRUE(has("LINK_REASONS", name(static_cast<base::Error>(i)))) << i;
    explain(Error::first_of_this_node, Error::last_of_this_node);
    explain(Error::first_refusal, Error::last_refusal);
    EXPECT_TRUE(has("LINK_REASONS", "connection_refused"));
}

TEST(DashboardWords, ExplainExplanations) {
    for (const auto word : kWordsOf<PeerSelection>) EXPECT_TRUE(has("CHOICES", word)) << word;
    for (const auto word : kWordsOf<PeerHeadResult>) EXPECT_TRUE(has("HAS", word)) << word;
    for (const auto* word : {"fresh", "stale", "filling", "variant", "disk", "absent"})
        EXPECT_TRUE(has("HERE", word)) << word;
}

}  // namespace dashboard_words_test
}  // namespace proxy
