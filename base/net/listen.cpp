#include "base/net/listen.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace base {
namespace {

constexpr int kBacklog = 4096;

[[noreturn]] void fail(const base::HostPort& where, int error) {
    throw std::runtime_error("cannot listen at " + where.text() + ": " +
                             std::system_category().message(error) +
                             (error == EADDRINUSE ? "; another process listens there, which `ss "
                                                    "-ltnp` shows: stop it, or choose another "
                                                    "address"
                                                  : ""));
}

class PassiveSocket {
public:
    PassiveSocket(const base::HostPort& where, const sockaddr_storage& address, socklen_t size,
                  bool shared)
        : fd_(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
        const int on = 1;
        if (fd_ < 0) fail(where, errno);
        ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        // Linux gives it to each connection from listen() on, which saves a call for each.
        ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (shared) share();
        if (::bind(fd_, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
            ::listen(fd_, kBacklog) != 0) {
            const auto error = errno;
            ::close(fd_);
            fail(where, error);
        }
    }
    PassiveSocket(const PassiveSocket&) = delete;
    PassiveSocket& operator=(const PassiveSocket&) = delete;
    ~PassiveSocket() {
        if (fd_ >= 0) ::close(fd_);
    }
    /// Permits further listeners of this user at the address.
    void share() {
        const int on = 1;
        ::setsockopt(fd_, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    }
    int get() const { return fd_; }
    int release() { return std::exchange(fd_, -1); }

private:
    int fd_;
};

}  // namespace

std::vector<int> listen_shared(const base::HostPort& where, unsigned workers) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    if (const auto error = ::getaddrinfo(where.host.empty() ? nullptr : where.host.c_str(),
                                         std::to_string(where.port).c_str(), &hints, &found))
        throw std::runtime_error("cannot listen at " + where.text() + ": " + ::gai_strerror(error));
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
    sockaddr_storage address{};
    std::memcpy(&address, found->ai_addr, found->ai_addrlen);
    auto size = static_cast<socklen_t>(found->ai_addrlen);

    std::vector<std::unique_ptr<PassiveSocket>> sockets;
    // The first socket binds without SO_REUSEPORT, so the kernel refuses an address that another
    // process uses, shared or exclusive. It stays open, because clients may have connected to it.
    sockets.push_back(std::make_unique<PassiveSocket>(where, address, size, false));
    ::getsockname(sockets.front()->get(), reinterpret_cast<sockaddr*>(&address), &size);
    sockets.front()->share();
    while (sockets.size() < workers)
        sockets.push_back(std::make_unique<PassiveSocket>(where, address, size, true));
    std::vector<int> result;
    for (auto& socket : sockets) result.push_back(socket->release());
    return result;
}

}  // namespace base
