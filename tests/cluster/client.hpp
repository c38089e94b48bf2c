#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tests/cluster/sockets.hpp"

namespace proxy::test {

inline bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

/// The bytes that a client read.
struct Answer {
    unsigned status = 0;  // 0: the connection ended before a head came
    std::string head, body;
    bool complete = false;  // the body came whole by its framing

    std::string field(std::string_view name) const { return field_of(head, name); }
    std::string cache_status() const { return field("Cache-Status"); }
};

/// Appends bytes of a connection; false at its end.
using Receive = std::function<bool(std::string&)>;
/// Reads a head, or nothing if the connection ends before. What comes after it stays in `input`.
Answer read_head(std::string& input, const Receive& receive);
/// Reads so many bytes of the body.
void read_body(Answer& answer, std::size_t bytes, std::string& input, const Receive& receive);
/// Reads an answer that has a Content-Length or no body.
Answer read_sized(std::string& input, const Receive& receive);

/// A plain HTTP/1.1 client that sends what it is told, byte for byte.
class Client {
public:
    Client(const std::string& address, std::uint16_t port, const std::string& from = {})
        : socket(Socket::connect(address, port, from)) {}

    /// Sends `METHOD target HTTP/1.1` with Host and these lines, and reads the
    /// answer.
    Answer ask(std::string_view method, std::string_view target, std::string_view fields = {},
               std::string_view body = {});
    Answer get(std::string_view target, std::string_view fields = {}) {
        return ask("GET", target, fields);
    }
    /// Sends without waiting.
    void begin(std::string_view method, std::string_view target, std::string_view fields = {},
               std::string_view body = {});
    Answer read(bool of_head_request = false);
    /// Reads until so many bytes of the next answer's body are there; the rest is left to read().
    bool read_at_least(std::size_t body_bytes);
    /// True when the other side has closed and nothing is left to read.
    bool at_end();

    Socket socket;
    std::string host = "origin.test";

private:
    std::string input_;
};

}  // namespace proxy::test
