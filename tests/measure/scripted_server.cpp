#include "tests/measure/scripted_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "measure/origin/origin_request.hpp"
#include "proxy/http/field_list.hpp"

namespace measure {
namespace {

/// A socket on loopback; closes itself.
class Socket {
public:
    explicit Socket(int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) : fd_(fd) {}
    ~Socket() {
        if (fd_ >= 0) ::close(fd_);
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    int fd() const { return fd_; }
    void bind_anywhere() const {
        sockaddr_in to = loopback(0);
        if (::bind(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) {
            throw std::runtime_error("bind");
        }
    }
    std::uint16_t port() const {
        sockaddr_in at{};
        socklen_t size = sizeof at;
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
        return ntohs(at.sin_port);
    }
    void connect(std::uint16_t port) const {
        sockaddr_in to = loopback(port);
        if (::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) {
            throw std::runtime_error("connect");
        }
    }
    bool send(std::string_view bytes) const {
        while (!bytes.empty()) {
            const auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (n <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(n));
        }
        return true;
    }
    /// Appends the bytes that arrive. Returns false at the end.
    bool receive(std::string& out) const {
        char buffer[16'384];
        const auto n = ::recv(fd_, buffer, sizeof buffer, 0);
        if (n <= 0) return false;
        out.append(buffer, static_cast<std::size_t>(n));
        return true;
    }
    /// Wakes all waiters for good.
    void shut() const { ::shutdown(fd_, SHUT_RDWR); }

private:
    static sockaddr_in loopback(std::uint16_t port) {
        sockaddr_in out{};
        out.sin_family = AF_INET;
        out.sin_port = htons(port);
        out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return out;
    }
    int fd_;
};

}  // namespace

std::string Seen::method() const {
    return head.substr(0, head.find(' '));
}

std::string Seen::target() const {
    const auto begin = head.find(' ') + 1;
    return head.substr(begin, head.find(" HTTP/1.", begin) - begin);
}

std::string Seen::field(std::string_view name) const {
    std::string_view rest = head;
    for (auto end = rest.find("\r\n"); end != std::string_view::npos; end = rest.find("\r\n")) {
        const auto line = rest.substr(0, end);
        rest.remove_prefix(end + 2);
        const auto colon = line.find(':');
        if (colon == std::string_view::npos || !proxy::iequals(line.substr(0, colon), name))
            continue;
        return std::string(proxy::trim(line.substr(colon + 1)));
    }
    return {};
}

struct ScriptedServer::State {
    Script script;
    Socket listener;
    mutable std::mutex mutex;
    std::vector<Seen> seen;
    std::list<Socket> connections;
    std::list<std::thread> threads;
    bool stopping = false;

    void accept() {
        for (unsigned number = 0;; ++number) {
            const int fd = ::accept(listener.fd(), nullptr, nullptr);
            const std::lock_guard lock(mutex);
            if (fd < 0 || stopping) {
                if (fd >= 0) ::close(fd);
                return;
            }
            const Socket& connection = connections.emplace_back(fd);
            threads.emplace_back([this, &connection, number] { serve(connection, number); });
        }
    }

    void serve(const Socket& connection, unsigned number) {
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
    s.listener.bind_anywhere();
    if (::listen(s.listener.fd(), 128) != 0) throw std::runtime_error("listen");
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
    const auto& socket = held.emplace_back();
    socket.bind_anywhere();
    return {"127.0.0.1", socket.port()};
}

std::string raw_exchange(std::uint16_t port, const std::string& request) {
    const Socket socket;
    socket.connect(port);
    std::string answer;
    socket.send(request);
    while (socket.receive(answer)) {
    }
    return answer;
}

}  // namespace measure
