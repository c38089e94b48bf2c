#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/cluster/sockets.hpp"

namespace proxy::test {

/// Holds a script until the test lets it go on.
class Gate {
public:
    void open();
    /// False when nobody opened it in kPatience.
    bool wait();
    /// Waits until so many scripts have arrived here.
    bool wait_for(std::size_t arrivals);

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t arrived_ = 0;
    bool open_ = false;
};

/// One request at the origin, and the bytes to answer with.
class Exchange {
public:
    std::string method, target, head, body;
    std::string field(std::string_view name) const { return field_of(head, name); }

    void send(std::string_view bytes) { socket.send(bytes); }
    /// A whole answer: `fields` are lines that end in CRLF.
    void answer(std::string_view fields, std::string_view content,
                std::string_view status = "200 OK");
    bool keep = true;  // false: close after this exchange
    Socket& socket;
};

/// An origin that answers as the test says, byte by byte if need be. A thread for each connection.
class ScriptedOrigin {
public:
    using Script = std::function<void(Exchange&)>;

    explicit ScriptedOrigin(Script script);
    ~ScriptedOrigin();
    ScriptedOrigin(const ScriptedOrigin&) = delete;

    std::uint16_t port() const { return listener_.port(); }

    /// While it lives, a script may refer to earlier declarations.
    class Scripted {
    public:
        explicit Scripted(ScriptedOrigin& origin) : origin_(origin) {}
        Scripted(const Scripted&) = delete;
        ~Scripted() { origin_.end_scripts(); }

    private:
        ScriptedOrigin& origin_;
    };
    [[nodiscard]] Scripted set(Script script);
    /// Runs between head and body of each request, until the present Scripted ends; with `keep`
    /// false it ends the connection.
    void before_body(Script script);
    std::size_t requests() const;
    std::size_t connections() const;  // accepted so far
    /// A node that believes a peer here asks once for an object that nobody has. While this holds,
    /// that is answered as a peer does, and counted nowhere.
    std::atomic<bool> answers_probes{true};
    std::size_t probes() const;  // answered so
    /// Requests in order of arrival, heads as they came.
    std::vector<std::string> heads() const;
    /// No new connection, and those at hand reset.
    void die();
    /// After die(): takes connections at the same port again.
    void revive();

private:
    struct Connection {
        Socket socket;
        std::thread thread;
    };
    void end_scripts();
    void accept_all();
    void serve(Socket& socket);
    void run(Script ScriptedOrigin::*script, Exchange& exchange);

    Socket listener_;
    mutable std::mutex mutex_;
    std::condition_variable idle_;
    Script script_, before_body_;
    std::size_t scripts_running_ = 0;
    std::size_t probes_ = 0;  // each on a connection of its own
    std::vector<std::string> heads_;
    std::list<Connection> connections_;
    std::thread acceptor_;
};

}  // namespace proxy::test
