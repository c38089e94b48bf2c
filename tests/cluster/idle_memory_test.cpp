// The memory of a connection that waits for its next request, after a large one as well.
#include <cstdio>

#include "tests/cluster/fixture.hpp"
#include "tests/heap_in_use.hpp"

namespace proxy::test {
namespace idle_memory_test {

constexpr std::size_t kConnections = 150;
/// An idle connection keeps as much of its last request (kIdleBytes in http1_connection.cpp), and a
/// little.
constexpr std::uint64_t kKeptBytes = 5 * 1024;

class IdleMemory : public NodesTest {
protected:
    void SetUp() override { start(config("a")); }

    /// The requests that the origin has kept, which are the test's own.
    std::uint64_t noted() const {
        std::uint64_t bytes = 0;
        for (const auto& head : origin.heads()) bytes += head.size();
        return bytes;
    }

    /// The memory of each connection that has asked for this and been answered; at most so much.
    template <class Ask>
    std::uint64_t expect(std::uint64_t at_most, const char* what, Ask ask) const {
        return expect_of(
            kConnections, [this] { return client(); }, at_most, what, ask);
    }
    template <class Open, class Ask>
    std::uint64_t expect_of(std::size_t connections, Open connect, std::uint64_t at_most,
                            const char* what, Ask ask) const {
        std::vector<Socket> idle;
        const auto open = [&](std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) {
                auto asking = connect();
                ask(asking);
                idle.push_back(std::move(asking.socket));  // what it has read goes
            }
        };
        open(10);  // what is kept for all of them
        const auto before = ::test::heap_in_use() - noted();
        open(connections);
        const auto each = [&] {
            const auto now = ::test::heap_in_use() - noted();
            return now < before ? 0 : (now - before) / connections;
        };
        EXPECT_TRUE(eventually([&] { return each() <= at_most; }))
            << what << ": " << each() << " bytes";
        const auto holds = each();
        std::printf("%-28s %6.1f KiB\n", what, static_cast<double>(holds) / 1024);
        return holds;
    }
};

const std::string kNotStored = "Cache-Control: no-store\r\nConnection: close\r\n";

TEST_F(IdleMemory, DoesNotDependOnTheLastRequest) {
    const auto scripted = origin.set([](Exchange& e) {
        const auto large = e.target == "/large-answer";
        const auto type = "Content-Type: text/" + std::string(60'000, 'a') + "\r\n";
        e.answer(kNotStored + (large ? type : ""), "text");
        e.keep = false;
    });
    const auto usual = expect(24 * 1024, "small requests",
                              [](Client& asking) { EXPECT_EQ(asking.get("/").status, 200u); });
    expect(usual + kKeptBytes, "large heads", [](Client& asking) {
        EXPECT_EQ(asking.get("/", "Cookie: " + std::string(60'000, 'c') + "\r\n").status, 200u);
    });
    expect(usual + kKeptBytes, "long targets", [](Client& asking) {
        EXPECT_EQ(asking.get("/" + std::string(15'000, 't')).status, 200u);
    });
    expect(usual + kKeptBytes, "many lines", [](Client& asking) {
        std::string lines;
        for (int i = 0; i < 190; ++i) lines += "X" + std::to_string(i) + ": y\r\n";
        EXPECT_EQ(asking.get("/", lines).status, 200u);
    });
    expect(usual + kKeptBytes, "large answers to a POST", [](Client& asking) {
        EXPECT_EQ(asking.ask("POST", "/large-answer", {}, "text").status, 200u);
    });
    expect(usual + kKeptBytes, "large heads, forwarded", [](Client& asking) {
        const auto chain = "X-Forwarded-For: " + std::string(30'000, 'x') + "\r\n";
        EXPECT_EQ(asking.ask("POST", "/", chain, "text").status, 200u);
    });
}

TEST_F(IdleMemory, OfAnAdminConnectionDoesNotDependOnItEither) {
    const auto expect_admin = [this](std::uint64_t at_most, const char* what, const auto& fields) {
        return expect_of(
            40, [] { return admin_client(); }, at_most, what,
            [&](Client& asking) { EXPECT_EQ(asking.get("/healthz", fields).status, 200u); });
    };
    const auto usual = expect_admin(24 * 1024, "small requests to the admin port", "");
    expect_admin(usual + 4 * 1024, "large heads there", "X: " + std::string(7'000, 'x') + "\r\n");
}

}  // namespace idle_memory_test
}  // namespace proxy::test
