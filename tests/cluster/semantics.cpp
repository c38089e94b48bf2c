#include "tests/cluster/semantics.hpp"

#include <boost/algorithm/string/predicate.hpp>

#include "proxy/http/http_date.hpp"

namespace proxy::test {

std::ostream& operator<<(std::ostream& out, Mode mode) {
    return out << (mode == Mode::reverse ? "reverse" : "forward");
}

std::string reply(std::string_view status, std::string_view fields, std::string_view body) {
    std::string text("HTTP/1.1 ");
    text.append(status).append("\r\n").append(fields);
    const auto bodiless = status.starts_with("204") || status.starts_with("304");
    if (!bodiless)
        text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
    text.append("\r\n");
    if (!bodiless) text.append(body);
    return text;
}

std::string not_modified(std::string_view fields) {
    return reply("304 Not Modified", fields, {});
}

std::string date(std::chrono::seconds from_now) {
    std::string text;
    append_http_date(
        text, std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now()) +
                  from_now);
    return text;
}

std::size_t lines(std::string_view head, std::string_view name) {
    std::size_t count = 0;
    for (auto at = head.find("\r\n"); at < head.size(); at = head.find("\r\n", at)) {
        at += 2;
        const auto line = head.substr(at, head.find("\r\n", at) - at);
        if (boost::algorithm::istarts_with(line, std::string(name) + ":")) ++count;
    }
    return count;
}

SemanticsTest::SemanticsTest()
    : scripted_(origin.set([this](Exchange& e) {
          std::string answer;
          {
              const std::lock_guard lock(mutex_);
              auto& heads = heads_[e.target];
              heads.push_back(e.head);
              const auto& said = answers_[e.target];
              if (!said.empty()) answer = said[std::min(heads.size(), said.size()) - 1];
          }
          if (answer.empty()) return e.answer(fresh(), "body of " + e.target);
          if (e.method == "HEAD") answer.resize(answer.find("\r\n\r\n") + 4);
          e.send(answer);
      })) {}

Config SemanticsTest::settings() const {
    auto settings = config("a");
    if (GetParam() == Mode::reverse) return settings;
    settings.origins.clear();
    settings.forward.enabled = true;
    settings.forward.private_destinations = Destinations::allow;
    return settings;
}

std::string SemanticsTest::host() const {
    return GetParam() == Mode::reverse ? "origin.test" : origin_authority();
}

std::string SemanticsTest::target(std::string_view path) const {
    return GetParam() == Mode::reverse ? std::string(path) : uri(path);
}

void SemanticsTest::says(const std::string& path, std::vector<std::string> answers) {
    const std::lock_guard lock(mutex_);
    answers_[path] = std::move(answers);
    heads_[path].clear();
}

std::vector<std::string> SemanticsTest::requests(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    const auto found = heads_.find(path);
    return found == heads_.end() ? std::vector<std::string>() : found->second;
}

bool SemanticsTest::reused(const std::string& path, const std::string& answer,
                           std::string_view first, std::string_view second) {
    says(path, {answer});
    const auto one = get(path, first);
    const auto two = get(path, second);
    EXPECT_NE(one.status, 0u);
    EXPECT_EQ(one.status, two.status);
    EXPECT_EQ(one.body, two.body);
    return asked(path) == 1;
}

void SemanticsTest::expect_reuse(const std::vector<ReuseCase>& cases) {
    for (const auto& each : cases) {
        SCOPED_TRACE(each.name);
        EXPECT_EQ(reused("/" + std::string(each.name), ok(each.response), each.first, each.second),
                  each.reused)
            << each.response;
    }
}

}  // namespace proxy::test
