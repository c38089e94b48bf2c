#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace proxy::test {

/// Longer than any step of a test takes; a test that waits so long has failed.
inline constexpr std::chrono::seconds kPatience{40};

/// A blocking TCP socket with kPatience on every wait. Owns its descriptor.
class Socket {
public:
    Socket() = default;
    explicit Socket(int fd);
    ~Socket();
    Socket(Socket&& other) noexcept;
    Socket& operator=(Socket&& other) noexcept;

    /// `from`: the own address; by default the system's choice.
    static Socket connect(const std::string& address, std::uint16_t port,
                          const std::string& from = {});
    /// Port 0: any free one. After shut() connections to it are refused, and the port stays taken
    /// until the socket is closed.
    static Socket listen(const std::string& address, std::uint16_t port);
    Socket accept() const;  // not open() when the listener was shut

    bool open() const { return fd_ >= 0; }
    int descriptor() const { return fd_; }
    std::uint16_t port() const;
    bool send(std::string_view data) const;
    /// Appends the bytes that are there; false at the end, on a reset, or when nothing came for so
    /// long.
    bool receive(std::string& into, std::size_t at_most = 65536);
    /// Waits so long for bytes or the end.
    bool readable(std::chrono::milliseconds wait) const;
    bool was_reset() const { return reset_; }
    void shut() const;       // both directions; wakes whoever waits
    void shut_send() const;  // says that nothing more comes
    /// Ends the connection so that the other side sees a reset. The socket stays open, so other
    /// threads may shut it meanwhile.
    void reset() const;
    void close();

private:
    int fd_ = -1;
    bool reset_ = false;
};

/// Connects a socket that its caller has made.
bool connect_socket(int fd, const std::string& address, std::uint16_t port);

/// The first value of a field in a message's head, or empty. `name` in any case.
std::string field_of(std::string_view head, std::string_view name);

}  // namespace proxy::test
