#include "tests/cluster/wire.hpp"

namespace proxy::test {
namespace {

using namespace std::chrono_literals;

constexpr auto kStep = 5ms;

bool carry(Socket& from, Socket& to) {
    std::string bytes;
    return !from.readable(0ms) || (from.receive(bytes) && to.send(bytes));
}

}  // namespace

Wire::Wire(const std::string& address, std::uint16_t port, std::string to, std::uint16_t to_port)
    : listener_(Socket::listen(address, port)),
      to_(std::move(to)),
      to_port_(to_port),
      thread_([this] { run(); }) {}

Wire::~Wire() {
    stop_ = true;
    thread_.join();
}

void Wire::cut() {
    empty_ = false;
    state_ = State::cut;
    while (!empty_) std::this_thread::sleep_for(1ms);
}

void Wire::run() {
    while (!stop_) {
        const auto state = state_.load();
        if (state == State::interrupted) {
            std::this_thread::sleep_for(kStep);
            continue;
        }
        if (listener_.readable(kStep)) connect(state == State::whole);
        if (state == State::cut) pairs_.clear();
        empty_ = pairs_.empty();
        pairs_.remove_if([](auto& pair) {
            return !carry(pair.first, pair.second) || !carry(pair.second, pair.first);
        });
    }
}

void Wire::connect(bool keep) {
    auto from = listener_.accept();
    if (!keep) return;
    try {
        pairs_.emplace_back(std::move(from), Socket::connect(to_, to_port_));
    } catch (const std::exception&) {  // nobody there: closed
    }
}

}  // namespace proxy::test
