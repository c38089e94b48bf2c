#include "proxy/node/disk_watch.hpp"

#include <gmock/gmock.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <sstream>

namespace proxy {
namespace disk_watch_test {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class DiskWatchTest : public testing::Test {
protected:
    DiskWatchTest() : before_(spdlog::default_logger()) {
        auto logger = std::make_shared<spdlog::logger>(
            "", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_));
        logger->set_pattern("%l: %v");
        spdlog::set_default_logger(std::move(logger));
        status_.path = "/d";
    }
    ~DiskWatchTest() override { spdlog::set_default_logger(before_); }

    /// The log lines of a look at this time.
    std::string said() {
        text_.str({});
        watch_.look({&status_, 1});
        return text_.str();
    }

    std::shared_ptr<spdlog::logger> before_;
    std::ostringstream text_;
    DiskStatus status_;
    DiskWatch watch_;
};

TEST_F(DiskWatchTest, LogsTheRecordsOfAStartOnce) {
    EXPECT_THAT(said(), IsEmpty());
    status_.state = DiskStatus::State::ready;
    status_.recovered = 12;
    EXPECT_EQ(said(), "info: disk /d: 12 objects, read in 0.0 s\n");
    EXPECT_THAT(said(), IsEmpty());
}

TEST_F(DiskWatchTest, LogsTheLossesOfAStart) {
    status_.recovered = 9;
    status_.recovered_doubtful = 7;
    status_.recovered_torn = status_.found_unsealed = 1;
    status_.found_damaged = 2;
    status_.found_unreadable = 3;
    status_.found_foreign = 4;
    EXPECT_THAT(said(), IsEmpty()) << "before it has been read";
    status_.state = DiskStatus::State::ready;
    const auto text = said();
    EXPECT_THAT(text, HasSubstr("info: disk /d: after a kill, or with a file cut off: files "
                                "without a footer, searched for records: 1; objects lost"));
    EXPECT_THAT(text, HasSubstr("warning: disk /d: files damaged: 2, unreadable: 3, of another "
                                "directory: 4; objects to validate"));
    EXPECT_THAT(said(), IsEmpty());
}

TEST_F(DiskWatchTest, LogsTroubleAndItsEnd) {
    status_.state = DiskStatus::State::ready;
    (void)said();
    status_.state = DiskStatus::State::paused;
    status_.last_error = "writing: Input/output error";
    EXPECT_THAT(said(), HasSubstr("warning: disk /d: writing: Input/output error: writing pauses"));
    EXPECT_THAT(said(), IsEmpty());
    status_.state = DiskStatus::State::ready;
    EXPECT_THAT(said(), HasSubstr("info: disk /d: works again"));
    status_.state = DiskStatus::State::off;
    EXPECT_THAT(said(), HasSubstr("error: disk /d: writing: Input/output error: its content is "
                                  "lost, and it is used again as soon as it works"));
    status_.state = DiskStatus::State::ready;
    EXPECT_THAT(said(), Not(HasSubstr("objects")));
}

TEST_F(DiskWatchTest, LogsADeviceThatDoesNotAnswerOnce) {
    status_.state = DiskStatus::State::ready;
    said();
    status_.state = DiskStatus::State::stalled;
    EXPECT_THAT(said(), HasSubstr("warning: disk /d: a call to the device does not return"));
    EXPECT_THAT(said(), IsEmpty());
    status_.state = DiskStatus::State::ready;
    EXPECT_EQ(said(), "info: disk /d: works again\n");
}

}  // namespace disk_watch_test
}  // namespace proxy
