#include "tests/measure/scripted_server.hpp"

#include <deque>
#include <list>
#include <mutex>
#include <thread>

#include "measure/origin/origin_request.hpp"
#include "tests/cluster/sockets.hpp"

namespace measure {

using proxy::test::Socket;

std::string Seen::method() const {
    return head.substr(0, head.find(' '));
}

std::string Seen::target() const {
    const auto begin = head.find(' ') + 1;
    return head.substr(begin, head.find(" HTTP/1.", begin) - begin);
}

std::string Seen::field(std::string_view name) const {
    return proxy::test::field_of(head, name);
}

struct ScriptedServer::State {
    Script script;
    Socket listener = Socket::listen("127.0.0.1", 0);
    mutable std::mutex mutex;
    std::vector<Seen> seen;
    std::list<Socket> connections;
    std::list<std::thread> threads;
    bool stopping = false;

    void accept() {
        for (unsigned number = 0;; ++number) {
            auto accepted = listener.accept();
            const std::lock_guard lock(mutex);
            if (!accepted.open() || stopping) return;
            auto& connection = connections.emplace_back(std::move(accepted));
            threads.emplace_back([this, &connection, number] { serve(connection, number); });
        }
    }

    void serve(Socket& connection, unsigned number) {
        std::string input;
        for (unsigned request = 0;; ++request) {
            std::size_t end = 0;
            while ((end = input.find("\r\n\r\n")) == std::string::npos) {
                if (!connection.receive(input)) return;
            }
            const Seen now{number, request, input.substr(0, end + 4)};
            input.erase(0, end + 4);
            {
                const std::lock_guard lock(mutex);
                seen.push_back(now);
            }
            const Reply reply = script(now);
            if (!connection.send(reply.bytes) || reply.close) break;
        }
        connection.shut();
    }
};

ScriptedServer::ScriptedServer(Script script) : state_(std::make_unique<State>()) {
    State& s = *state_;
    s.script = std::move(script);
    s.threads.emplace_back([&s] { s.accept(); });
}

ScriptedServer::~ScriptedServer() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopping = true;
        state_->listener.shut();
        for (const auto& connection : state_->connections) connection.shut();
    }
    for (auto& thread : state_->threads) thread.join();  // no further one begins
}

HostPort ScriptedServer::address() const {
    return {"127.0.0.1", state_->listener.port()};
}

std::vector<Seen> ScriptedServer::seen() const {
    const std::lock_guard lock(state_->mutex);
    return state_->seen;
}

std::string like_the_origin(const Seen& seen, const std::string& more_lines) {
    proxy::Head head;
    proxy::RequestParser parser(head, {});
    if (parser.parse_head(seen.head) != proxy::ParseError::ok) return "not a request\r\n\r\n";
    proxy::CacheKey key;
    OriginAnswer answer;
    answer_origin_request(head, true, proxy::WallTime{std::chrono::seconds{1'700'000'000}}, key,
                          answer);
    std::string out = answer.head;
    out.insert(out.size() - 2, more_lines);
    for (auto at = answer.begin; answer.body && at < answer.end;) {
        const auto piece = answer.body->piece(at).substr(0, answer.end - at);
        out += piece;
        at += piece.size();
    }
    return out;
}

HostPort nobody() {
    // Held until the process ends, so that no other test listens there meanwhile.
    static std::mutex mutex;
    static std::deque<Socket> held;
    const std::lock_guard lock(mutex);
    const auto& socket = held.emplace_back(Socket::listen("127.0.0.1", 0));
    socket.shut();
    return {"127.0.0.1", socket.port()};
}

std::string raw_exchange(std::uint16_t port, const std::string& request) {
    auto socket = Socket::connect("127.0.0.1", port);
    std::string answer;
    socket.send(request);
    while (socket.receive(answer)) continue;
    return answer;
}

}  // namespace measure
