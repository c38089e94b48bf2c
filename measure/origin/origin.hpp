#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "protocol/net/host_port.hpp"

namespace measure {

struct OriginOptions {
    protocol::HostPort listen{"127.0.0.1", 8000};  ///< port 0: any free one
    unsigned workers = 1;
    std::size_t max_connections = 20'000;  ///< further ones wait in the listen queue
};

/// The built-in origin: answers any path with a body that depends on the URL alone. Runs on threads
/// of its own from construction to destruction. Plain HTTP/1.1 with keep-alive and pipelining;
/// takes origin-form and absolute-form alike. See origin_request.hpp for what requests can ask for.
class Origin {
public:
    /// Throws boost::system::system_error when the address cannot be had.
    explicit Origin(const OriginOptions&);
    ~Origin();
    Origin(const Origin&) = delete;
    Origin& operator=(const Origin&) = delete;

    std::uint16_t port() const;
    /// Any thread; requests answered and body bytes sent since the start.
    std::uint64_t requests() const;
    std::uint64_t body_bytes() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace measure
