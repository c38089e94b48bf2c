#include "protocol/links/link_log.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <sstream>
#include <string>

#include "base/async/error.hpp"
#include "protocol/wire/error.hpp"

namespace protocol::test {
namespace link_log_test {

using namespace std::chrono_literals;

const LinkLog::TimePoint kNow{100s};

/// Catches the log lines meanwhile.
class LinkLogTest : public ::testing::Test {
protected:
    LinkLogTest() {
        auto sink = std::make_shared<spdlog::sinks::ostream_sink_st>(text_);
        auto logger = std::make_shared<spdlog::logger>("test", std::move(sink));
        logger->set_pattern("%l %v");
        logger->set_level(spdlog::level::info);
        spdlog::set_default_logger(std::move(logger));
    }
    ~LinkLogTest() override { spdlog::set_default_logger(before_); }

    std::string logged() {
        auto text = text_.str();
        text_.str("");
        return text;
    }
    void ended(const boost::system::error_code& error, LinkLog::TimePoint now = kNow,
               const std::string& link = "link to b") {
        log.ended(link, error, "10.0.0.7:3129", now);
    }

    LinkLog log{"a"};

private:
    std::ostringstream text_;
    std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

TEST_F(LinkLogTest, SaysWhoseLinkEndedAndWhy) {
    ended(Error::wrong_key);
    const auto line = logged();
    EXPECT_NE(line.find("warning a: link to b ended"), std::string::npos) << line;
    EXPECT_NE(line.find("[wrong_key]"), std::string::npos) << line;
    EXPECT_NE(line.find("10.0.0.7:3129"), std::string::npos) << line;
}

TEST_F(LinkLogTest, OrdinaryEndsAreNoWarning) {
    ended(Error::goodbye);
    EXPECT_EQ(logged().find("info "), 0U);
}

TEST_F(LinkLogTest, TheSameTroubleIsLoggedOnceInTenSecondsAndCountedAlways) {
    for (int i = 0; i < 5; ++i) ended(base::Error::connect_timeout, kNow + i * 1s);
    const auto first = logged();
    EXPECT_EQ(std::count(first.begin(), first.end(), '\n'), 1) << first;
    ended(base::Error::connect_timeout, kNow + kLogAgainAfter);
    EXPECT_NE(logged().find("(4 more were not logged)"), std::string::npos);
    EXPECT_EQ(log.counts().at("connect_timeout"), 6U);
}

TEST_F(LinkLogTest, APeerThatHasLeftIsMissedOnce) {
    const auto missed = [&](LinkLog::TimePoint now) {
        log.failed("link to b", make_error_code(base::Error::connect_timeout), "", now,
                   LinkLog::Expectation::lasting);
        return logged();
    };
    EXPECT_EQ(missed(kNow).find("info "), 0U);
    for (int i = 1; i < 5; ++i) EXPECT_EQ(missed(kNow + i * kLogAgainAfter), "");
    log.up("link to b");
    logged();
    EXPECT_NE(missed(kNow + 5 * kLogAgainAfter).find("(4 more were not logged)"),
              std::string::npos);
    ended(base::Error::connect_timeout, kNow + 7 * kLogAgainAfter);
    EXPECT_EQ(logged().find("warning "), 0U) << "now it is not expected";
}

TEST_F(LinkLogTest, APlaceWhereNobodyAnswersIsNewsOnce) {
    const auto missed = [&](LinkLog::TimePoint now) {
        log.failed("link to [fd00::2]:3129", make_error_code(base::Error::connect_timeout), "", now,
                   LinkLog::Expectation::usual);
        return logged();
    };
    EXPECT_EQ(missed(kNow).find("info "), 0U);
    for (int i = 1; i < 500; ++i) EXPECT_EQ(missed(kNow + i * kLogAgainAfter), "");
    EXPECT_EQ(log.counts().at("connect_timeout"), 500U);
}

TEST_F(LinkLogTest, ThisNodeItselfIsNoTroubleAndLoggedOnceForEachPlace) {
    log.met_self("10.0.0.1");
    EXPECT_EQ(logged(), "info a: 10.0.0.1 is this node itself\n");
    log.met_self("10.0.0.1");
    EXPECT_EQ(logged(), "");
    log.met_self("10.0.0.2");
    EXPECT_NE(logged(), "");
    EXPECT_EQ(log.counts().at("own_id"), 3U);
}

TEST_F(LinkLogTest, AnotherTroubleOrAnotherLinkIsLoggedAtOnce) {
    ended(base::Error::connect_timeout);
    logged();
    ended(Error::wrong_key);
    EXPECT_FALSE(logged().empty());
    ended(base::Error::connect_timeout, kNow, "link to c");
    EXPECT_FALSE(logged().empty());
}

TEST_F(LinkLogTest, ALinkThatNeverWasHasNotEnded) {
    log.failed("link to b", make_error_code(base::Error::connect_timeout), "", kNow);
    const auto line = logged();
    EXPECT_NE(line.find("link to b could not be made"), std::string::npos) << line;
    EXPECT_EQ(line.find("ended"), std::string::npos) << line;
    EXPECT_EQ(log.counts().at("connect_timeout"), 1U);
}

TEST_F(LinkLogTest, ACheckOfPeersIsNoWarning) {
    log.left_unproven("link from 10.0.0.7", "c", make_error_code(Error::connection_closed), kNow);
    EXPECT_EQ(logged(),
              "info a: link from 10.0.0.7 ended before its proof, as `hearsay check --peers` at c "
              "does: connection "
              "closed by the peer [connection_closed]\n");
    EXPECT_EQ(log.counts().at("connection_closed"), 1U);
}

TEST_F(LinkLogTest, StrangersCannotMakeItGrowWithoutLimit) {
    for (std::size_t i = 0; i < 3 * kMaxLogSubjects; ++i) {
        ended(Error::unknown_node, kNow, "link from 10.0.0." + std::to_string(i));
    }
    EXPECT_EQ(log.counts().size(), 1U);
    EXPECT_EQ(log.counts().at("unknown_node"), 3 * kMaxLogSubjects);
}

}  // namespace link_log_test
}  // namespace protocol::test
