#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/net/host_port.hpp"

namespace measure {

/// The address, threads and limit of an Origin.
struct OriginOptions {
    base::HostPort listen{"127.0.0.1", 8000};  ///< port 0 selects a free one
    unsigned workers = 1;
    std::size_t max_connections = 20'000;  ///< more connections wait in the listen queue
};

/// The built-in origin answers any path with a body that depends on the URL alone. It runs on
/// threads of its own from construction to destruction. It speaks plain HTTP/1.1 with keep-alive
/// and pipelining, and accepts origin-form and absolute-form. origin_request.hpp lists the fields
/// by which a request controls its answer.
class Origin {
public:
    /// Throws boost::system::system_error if it cannot listen at the address.
    explicit Origin(const OriginOptions&);
    ~Origin();
    Origin(const Origin&) = delete;
    Origin& operator=(const Origin&) = delete;

    std::uint16_t port() const;
    /// Requests answered and body bytes sent since the start. Any thread.
    std::uint64_t requests() const;
    std::uint64_t body_bytes() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace measure
