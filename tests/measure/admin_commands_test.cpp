// The commands for operators, against real nodes.
#include "measure/admin_commands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "measure/commands.hpp"
#include "measure/run/child_process.hpp"
#include "tests/measure/captured.hpp"
#include "tests/measure/running_nodes.hpp"
#include "tests/measure/scripted_server.hpp"

namespace measure {
namespace admin_commands_test {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

NodeChoice at(unsigned number) {
    return {own_address(number), {}};
}

TEST(Status, CountsTwoProcessesOfOneNameAndWarns) {
    const auto one = run_by(configuration("b", 7)), two = run_by(configuration("b", 8)),
               other = run_by(configuration("c", 9));
    const auto ended = captured([] { return status_command({at(7), at(8), at(9)}, false); });
    EXPECT_EQ(ended.code, kOk);
    EXPECT_THAT(ended.out, HasSubstr("3 nodes: "));
    EXPECT_THAT(ended.error, HasSubstr("warning: 2 processes call themselves b (at " +
                                       own_address(7) + ":9128 and " + own_address(8) + ":9128)"));
    const auto twice = captured([] { return status_command({at(7), at(7), at(9)}, false); });
    EXPECT_THAT(twice.out, HasSubstr("2 nodes: ")) << "one of them was asked twice";
    EXPECT_EQ(twice.error, "");
}

}  // namespace admin_commands_test
}  // namespace measure
