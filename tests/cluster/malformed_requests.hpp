#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/cluster/fixture.hpp"

namespace proxy::test {

/// A message, and the answer of a node.
struct Case {
    std::string name, bytes;
    unsigned status = 400;
};

/// Sent behind every malformed message: a node that loses the framing takes it for a request.
inline constexpr std::string_view kNext = "GET /smuggled HTTP/1.1\r\nHost: origin.test\r\n\r\n";

inline std::string get_of(std::string_view fields) {
    return "GET /x HTTP/1.1\r\nHost: origin.test\r\n" + std::string(fields) + "\r\n";
}
inline std::string post_of(std::string_view fields, std::string_view body) {
    return "POST /x HTTP/1.1\r\nHost: origin.test\r\n" + std::string(fields) + "\r\n" +
           std::string(body);
}
inline std::string chunked(std::string_view body) {
    return post_of("Transfer-Encoding: chunked\r\n", body);
}
inline std::string line(std::string_view request_line) {
    return std::string(request_line) + "\r\nHost: origin.test\r\n\r\n";
}

inline std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

/// One node in reverse mode, "a", and one in forward mode, "b". No wait of theirs ends within a
/// test's patience: a refusal comes from the text of the message.
class MalformedRequests : public NodesTest {
protected:
    void SetUp() override {
        for (const auto* name : {"a", "b"}) {
            auto settings = config(name);
            settings.timeouts.client_head = settings.timeouts.keep_alive =
                settings.timeouts.body_idle = std::chrono::seconds(60);
            if (settings.node == "b") {
                settings.origins.clear();
                settings.forward.enabled = true;
                settings.forward.private_destinations = Destinations::allow;
            }
            start(std::move(settings));
        }
    }

    /// In forward mode with the target in absolute-form.
    std::string as_sent_to(const std::string& node, std::string bytes) const {
        const auto target = bytes.find(" /");
        if (node == "b" && target != std::string::npos && target < bytes.find('\n'))
            bytes.insert(target + 1, "http://127.0.0.1:" + std::to_string(origin.port()));
        return bytes;
    }

    /// All that comes until the node closes.
    static std::string read_to_end(Socket& socket) {
        std::string all;
        while (socket.receive(all)) {
        }
        return all;
    }

    /// Refused with this status and closed; neither it nor the text behind it becomes a request.
    void expect_refused(const std::vector<Case>& cases) {
        for (const auto& each : cases) {
            for (const auto* node : {"a", "b"}) {
                SCOPED_TRACE(each.name + " at " + node);
                auto connection = client(node);
                connection.socket.send(as_sent_to(node, each.bytes) + std::string(kNext));
                const auto answer = read_to_end(connection.socket);
                EXPECT_TRUE(answer.starts_with("HTTP/1.1 " + std::to_string(each.status) + ' '))
                    << answer;
                EXPECT_EQ(count_of(answer, "HTTP/1.1 "), 1u) << answer;
                EXPECT_EQ(field_of(answer, "Connection"), "close");
                EXPECT_EQ(origin.requests(), 0u);
            }
        }
    }

    /// Answered, and the connection kept for the next request. Gives the origin's view of the
    /// request's body, decoded or as chunks of the node's own.
    std::string accept(const std::string& node, const std::string& bytes) {
        std::string body;
        const auto scripted = origin.set([&](Exchange& e) {
            if (e.target == "/x") body = e.body;
            e.answer("", e.method + ' ' + e.target);
        });
        const auto before = origin.requests();
        auto connection = client(node);
        connection.socket.send(as_sent_to(node, bytes) +
                               as_sent_to(node, "GET /next HTTP/1.1\r\nHost: origin.test\r\n\r\n"));
        const auto first = connection.read();
        EXPECT_EQ(first.status, 200u) << first.head;
        EXPECT_TRUE(first.body.ends_with(" /x")) << first.body;
        EXPECT_EQ(connection.read().body, "GET /next");
        EXPECT_EQ(origin.requests(), before + 2);
        return body;
    }
    void expect_accepted(const std::vector<std::pair<std::string, std::string>>& bytes_and_body) {
        for (const auto& [bytes, body] : bytes_and_body)
            for (const auto* node : {"a", "b"}) {
                SCOPED_TRACE(bytes + " at " + node);
                EXPECT_EQ(accept(node, bytes), body);
            }
    }
};

inline const std::string kWhole = "5\r\nhello\r\n0\r\n\r\n";

}  // namespace proxy::test
