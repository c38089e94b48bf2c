#include "tests/cluster/scripted_origin.hpp"

#include <cstdlib>

#include "proxy/upstream/peer_probe.hpp"

namespace proxy::test {

void Gate::open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
}

bool Gate::wait() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    return changed_.wait_for(lock, kPatience, [this] { return open_; });
}

bool Gate::wait_for(std::size_t arrivals) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return arrived_ >= arrivals; });
}

void Exchange::answer(std::string_view fields, std::string_view content, std::string_view status) {
    std::string bytes("HTTP/1.1 ");
    bytes.append(status).append("\r\nContent-Length: ").append(std::to_string(content.size()));
    bytes.append("\r\n").append(fields).append("\r\n");
    if (method != "HEAD") bytes.append(content);
    send(bytes);
}

ScriptedOrigin::ScriptedOrigin(Script script)
    : listener_(Socket::listen("127.0.0.1", 0)),
      script_(std::move(script)),
      acceptor_([this] { accept_all(); }) {}

ScriptedOrigin::~ScriptedOrigin() {
    listener_.shut();
    acceptor_.join();
    {
        const std::lock_guard lock(mutex_);
        for (auto& connection : connections_) connection.socket.shut();
    }
    for (auto& connection : connections_) connection.thread.join();
}

ScriptedOrigin::Scripted ScriptedOrigin::set(Script script) {
    {
        const std::lock_guard lock(mutex_);
        script_ = std::move(script);
    }
    return Scripted(*this);
}

void ScriptedOrigin::end_scripts() {
    std::unique_lock lock(mutex_);
    script_ = [](Exchange& exchange) { exchange.keep = false; };
    before_body_ = nullptr;
    for (auto& connection : connections_) connection.socket.shut();
    idle_.wait(lock, [this] { return scripts_running_ == 0; });
}

void ScriptedOrigin::before_body(Script script) {
    const std::lock_guard lock(mutex_);
    before_body_ = std::move(script);
}

std::size_t ScriptedOrigin::requests() const {
    const std::lock_guard lock(mutex_);
    return heads_.size();
}

std::size_t ScriptedOrigin::connections() const {
    const std::lock_guard lock(mutex_);
    return connections_.size() - probes_;
}

std::size_t ScriptedOrigin::probes() const {
    const std::lock_guard lock(mutex_);
    return probes_;
}

std::vector<std::string> ScriptedOrigin::heads() const {
    const std::lock_guard lock(mutex_);
    return heads_;
}

void ScriptedOrigin::die() {
    listener_.shut();
    const std::lock_guard lock(mutex_);
    for (auto& connection : connections_) connection.socket.shut();
}

void ScriptedOrigin::revive() {
    acceptor_.join();
    ::listen(listener_.descriptor(), SOMAXCONN);
    acceptor_ = std::thread([this] { accept_all(); });
}

void ScriptedOrigin::accept_all() {
    for (;;) {
        auto socket = listener_.accept();
        if (!socket.open()) return;
        const std::lock_guard lock(mutex_);
        connections_.push_back({std::move(socket), {}});
        auto& connection = connections_.back();
        connection.thread = std::thread([this, &connection] { serve(connection.socket); });
    }
}

void ScriptedOrigin::run(Script ScriptedOrigin::*script, Exchange& exchange) {
    Script copy;
    {
        const std::lock_guard lock(mutex_);
        copy = this->*script;
        ++scripts_running_;
    }
    if (copy) copy(exchange);
    const std::lock_guard lock(mutex_);
    --scripts_running_;
    idle_.notify_all();
}

void ScriptedOrigin::serve(Socket& socket) {
    std::string input;
    for (;;) {
        std::size_t end = 0;
        while ((end = input.find("\r\n\r\n")) == std::string::npos) {
            if (!socket.receive(input)) return socket.shut();
        }
        Exchange exchange{{}, {}, input.substr(0, end + 2), {}, true, socket};
        input.erase(0, end + 4);
        exchange.method = exchange.head.substr(0, exchange.head.find(' '));
        const auto begin = exchange.method.size() + 1;
        exchange.target = exchange.head.substr(begin, exchange.head.find(' ', begin) - begin);
        if (exchange.target == kProbeTarget && answers_probes) {
            exchange.answer("Connection: close\r\nCache-Status: a; fwd=uri-miss; detail=absent\r\n",
                            "", "504 Gateway Timeout");
            const std::lock_guard lock(mutex_);
            ++probes_;
            return socket.shut();
        }
        run(&ScriptedOrigin::before_body_, exchange);
        if (!exchange.keep) return socket.shut();
        if (exchange.field("Transfer-Encoding").empty()) {
            const auto length =
                std::strtoull(exchange.field("Content-Length").c_str(), nullptr, 10);
            while (input.size() < length)
                if (!socket.receive(input)) return socket.shut();
            exchange.body = input.substr(0, length);
            input.erase(0, length);
        } else {  // kept as it came, chunk lines and all
            while ((end = input.find("0\r\n\r\n")) == std::string::npos)
                if (!socket.receive(input)) return socket.shut();
            exchange.body = input.substr(0, end + 5);
            input.erase(0, end + 5);
        }
        {
            const std::lock_guard lock(mutex_);
            heads_.push_back(exchange.head);
        }
        run(&ScriptedOrigin::script_, exchange);
        if (!exchange.keep) return socket.shut();
    }
}

}  // namespace proxy::test
