#pragma once

#include <atomic>
#include <list>
#include <thread>
#include <utility>

#include "tests/cluster/sockets.hpp"

namespace proxy::test {

/// The network between two places: passes the bytes of all connections on, until a test has it do
/// otherwise.
class Wire {
public:
    Wire(const std::string& address, std::uint16_t port, std::string to, std::uint16_t to_port);
    ~Wire();
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    /// Connections stay, but nothing gets through.
    void interrupt() { state_ = State::interrupted; }
    /// Connections break, and no new one is made. They are broken when this returns.
    void cut();
    void heal() { state_ = State::whole; }

private:
    enum class State { whole, interrupted, cut };

    void run();
    void connect(bool keep);

    Socket listener_;
    std::string to_;
    std::uint16_t to_port_;
    std::list<std::pair<Socket, Socket>> pairs_;
    std::atomic<State> state_{State::whole};
    std::atomic<bool> empty_{true}, stop_{false};
    std::thread thread_;
};

}  // namespace proxy::test
