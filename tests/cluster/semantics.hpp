#pragma once

#include <chrono>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/cluster/fixture.hpp"

namespace proxy::test {

/// How clients reach the node: by a path for an entry of `origins`, or by the whole URI.
enum class Mode { reverse, forward };
std::ostream& operator<<(std::ostream& out, Mode mode);

// Whole answers of an origin; `fields` are lines that end in CRLF.
std::string reply(std::string_view status, std::string_view fields, std::string_view body = "text");
inline std::string ok(std::string_view fields, std::string_view body = "text") {
    return reply("200 OK", fields, body);
}
/// Without a body and without a length.
std::string not_modified(std::string_view fields);

/// An IMF-fixdate, so far from now.
std::string date(std::chrono::seconds from_now);
/// How often a field line stands in a head.
std::size_t lines(std::string_view head, std::string_view name);

/// A response's field lines, and whether a second request is answered without the origin.
struct ReuseCase {
    const char* name;
    std::string response;
    bool reused;
    std::string first = {}, second = {};  // field lines of the two requests
};

/// One node and an origin that answers each target as the test says, in either mode.
class SemanticsTest : public NodesTest, public ::testing::WithParamInterface<Mode> {
protected:
    SemanticsTest();
    void SetUp() override { start(settings()); }

    Config settings() const;
    std::string host() const;                         // of all targets
    std::string target(std::string_view path) const;  // as in the request line
    std::string uri(std::string_view path) const { return "http://" + host() + std::string(path); }

    /// The n-th request for `path` gets the n-th of these, later ones the last.
    void says(const std::string& path, std::vector<std::string> answers);
    /// Heads of the requests for `path` that the origin has seen.
    std::vector<std::string> requests(const std::string& path) const;
    std::size_t asked(const std::string& path) const { return requests(path).size(); }

    Answer ask(std::string_view method, std::string_view path, std::string_view fields = {},
               std::string_view body = {}) const {
        return client().ask(method, target(path), fields, body);
    }
    Answer get(std::string_view path, std::string_view fields = {}) const {
        return ask("GET", path, fields);
    }
    /// Asks for `path` twice; true when the origin was asked once.
    bool reused(const std::string& path, const std::string& answer, std::string_view first = {},
                std::string_view second = {});
    /// Each case with a target of its own.
    void expect_reuse(const std::vector<ReuseCase>& cases);

private:
    mutable std::mutex mutex_;
    std::map<std::string, std::vector<std::string>> answers_;
    std::map<std::string, std::vector<std::string>> heads_;
    ScriptedOrigin::Scripted scripted_;
};

}  // namespace proxy::test

#define HEARSAY_IN_BOTH_MODES(suite)                                                             \
    INSTANTIATE_TEST_SUITE_P(                                                                    \
        Modes, suite, ::testing::Values(proxy::test::Mode::reverse, proxy::test::Mode::forward), \
        [](const auto& each) { return ::testing::PrintToString(each.param); })
