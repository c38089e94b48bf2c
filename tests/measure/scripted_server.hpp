#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "measure/run/http_get.hpp"

namespace measure {

/// One request that a scripted server received.
struct Seen {
    unsigned connection = 0;  ///< 0, 1, ... in order of arrival
    unsigned number = 0;      ///< 0, 1, ... on its connection
    std::string head;         ///< up to and with the empty line

    std::string method() const;
    std::string target() const;
    /// Value of a field, or an empty string.
    std::string field(std::string_view name) const;
};

/// The answer of a script: raw bytes, and whether the connection ends after them.
struct Reply {
    std::string bytes;
    bool close = false;
};

/// A server on loopback with the answers of a test, one thread per connection. Several threads call
/// the script at once. Bodies of requests must be empty.
class ScriptedServer {
public:
    using Script = std::function<Reply(const Seen&)>;
    explicit ScriptedServer(Script script);
    ~ScriptedServer();
    ScriptedServer(const ScriptedServer&) = delete;
    ScriptedServer& operator=(const ScriptedServer&) = delete;

    HostPort address() const;
    /// All requests so far, in order of arrival.
    std::vector<Seen> seen() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The answer of the built-in origin, with further field lines ("Name: value\r\n") as a proxy adds.
std::string like_the_origin(const Seen& seen, const std::string& more_lines = {});

/// A loopback address with a closed port.
HostPort nobody();

/// Sends `request` to a port on loopback and reads until the other side closes.
std::string raw_exchange(std::uint16_t port, const std::string& request);

}  // namespace measure
