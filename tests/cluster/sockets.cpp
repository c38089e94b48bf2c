#include "tests/cluster/sockets.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/algorithm/string/predicate.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

namespace proxy::test {
namespace {

sockaddr_in endpoint(const std::string& address, std::uint16_t port) {
    sockaddr_in result{};
    result.sin_family = AF_INET;
    result.sin_port = htons(port);
    ::inet_pton(AF_INET, address.c_str(), &result.sin_addr);
    return result;
}

void check(int result, const char* what) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

Socket::Socket(int fd) : fd_(fd) {
    const timeval patience{kPatience.count(), 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Socket::~Socket() {
    close();
}

Socket::Socket(Socket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), reset_(std::exchange(other.reset_, false)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
    close();
    fd_ = std::exchange(other.fd_, -1);
    reset_ = std::exchange(other.reset_, false);
    return *this;
}

Socket Socket::connect(const std::string& address, std::uint16_t port, const std::string& from) {
    Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!from.empty()) {
        const auto own = endpoint(from, 0);
        check(::bind(socket.fd_, reinterpret_cast<const sockaddr*>(&own), sizeof own), "bind");
    }
    check(connect_socket(socket.fd_, address, port) ? 0 : -1, "connect");
    return socket;
}

Socket Socket::listen(const std::string& address, std::uint16_t port) {
    Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(socket.fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const timeval forever{0, 0};
    ::setsockopt(socket.fd_, SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof forever);
    // A socket that was bound to a certain port keeps it after shut(), so nobody else gets the port
    // of a server that is gone. One with a port of the system's choice would lose it.
    Socket choice;
    if (port == 0) {
        choice = Socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        ::setsockopt(choice.fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        const auto any = endpoint(address, 0);
        check(::bind(choice.fd_, reinterpret_cast<const sockaddr*>(&any), sizeof any), "bind");
    }
    const auto at = endpoint(address, port == 0 ? choice.port() : port);
    check(::bind(socket.fd_, reinterpret_cast<const sockaddr*>(&at), sizeof at), "bind");
    choice.close();
    check(::listen(socket.fd_, 256), "listen");
    return socket;
}

Socket Socket::accept() const {
    // accept4 takes a descriptor before it waits for a connection, so it must not wait here: a late
    // call would fail in a test that uses up all descriptors.
    for (;;) {
        pollfd asked{fd_, POLLIN, 0};
        ::poll(&asked, 1, -1);
        const auto fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd >= 0) return Socket(fd);
        if (errno != EMFILE && errno != ECONNABORTED && errno != EINTR) return Socket();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

std::uint16_t Socket::port() const {
    sockaddr_in at{};
    socklen_t size = sizeof at;
    check(::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size), "getsockname");
    return ntohs(at.sin_port);
}

bool Socket::send(std::string_view data) const {
    while (!data.empty()) {
        const auto sent = ::send(fd_, data.data(), data.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        data.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

bool Socket::receive(std::string& into, std::size_t at_most) {
    const auto before = into.size();
    into.resize(before + at_most);
    const auto got = ::recv(fd_, into.data() + before, at_most, 0);
    into.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == ECONNRESET) reset_ = true;
    return got > 0;
}

bool Socket::readable(std::chrono::milliseconds wait) const {
    pollfd asked{fd_, POLLIN, 0};
    return ::poll(&asked, 1, static_cast<int>(wait.count())) > 0;
}

void Socket::shut() const {
    ::shutdown(fd_, SHUT_RDWR);
}
void Socket::shut_send() const {
    ::shutdown(fd_, SHUT_WR);
}

void Socket::reset() const {
    const sockaddr nobody{AF_UNSPEC, {}};
    ::connect(fd_, &nobody, sizeof nobody);
}

void Socket::close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

bool connect_socket(int fd, const std::string& address, std::uint16_t port) {
    const auto target = endpoint(address, port);
    return ::connect(fd, reinterpret_cast<const sockaddr*>(&target), sizeof target) == 0;
}

std::string field_of(std::string_view head, std::string_view name) {
    for (std::size_t at = 0; at < head.size();) {
        const auto end = std::min(head.find("\r\n", at), head.size());
        const auto line = head.substr(at, end - at);
        const auto colon = line.find(':');
        if (colon != std::string_view::npos &&
            boost::algorithm::iequals(line.substr(0, colon), name))
            return boost::algorithm::trim_copy(std::string(line.substr(colon + 1)));
        at = end + 2;
    }
    return {};
}

}  // namespace proxy::test
