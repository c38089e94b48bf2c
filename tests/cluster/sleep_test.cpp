// The machine sleeps: its steady clock stands still, and content ages.
#include "tests/cluster/fixture.hpp"
#include "tests/cluster/machine_sleep.hpp"

namespace proxy::test {
namespace sleep_test {

class Sleep : public NodesTest {
protected:
    MachineSleep<8 * 3600> machine_sleep;
};

TEST_F(Sleep, ContentAgesInIt) {
    const auto scripted = origin.set([](Exchange& e) {
        const std::string_view age = e.target == "/minute" ? "60" : "90000";
        e.answer("Cache-Control: max-age=" + std::string(age) + "\r\n", "body");
    });
    start(config("a"));
    auto before = client();
    for (const auto* target : {"/minute", "/day"}) {
        EXPECT_EQ(before.get(target).status, 200u);
        EXPECT_TRUE(contains(before.get(target).cache_status(), "hit"));
    }
    machine_sleep.begin();
    const auto day = before.get("/day");
    EXPECT_TRUE(contains(day.cache_status(), "hit"));
    EXPECT_GE(std::stoi(day.field("Age")), 8 * 3600);
    EXPECT_FALSE(contains(before.get("/minute").cache_status(), "hit"));
    EXPECT_TRUE(contains(before.get("/minute").cache_status(), "hit")) << "it is new again";
    EXPECT_EQ(origin.requests(), 3u);
    EXPECT_EQ(origin.connections(), 2u) << "the one before has ended in the meantime";
}

}  // namespace sleep_test
}  // namespace proxy::test
