#include "base/net/listen.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

namespace base {
namespace listen_test {

std::uint16_t port_of(int fd) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
}

void close_all(const std::vector<int>& fds) {
    for (const auto fd : fds) ::close(fd);
}

/// Connects as soon as somebody listens.
int connect_to(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (;;) {
        const auto fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
            return fd;
        ::close(fd);
    }
}

TEST(Listen, ConnectionsSendSmallSegmentsAtOnceFromTheFirstOn) {
    const auto listening = listen_shared({"127.0.0.1", 0}, 1);
    const auto client = connect_to(port_of(listening.front()));
    pollfd come{listening.front(), POLLIN, 0};
    ASSERT_EQ(::poll(&come, 1, 10'000), 1);
    const auto accepted = ::accept(listening.front(), nullptr, nullptr);
    int no_delay = 0;
    socklen_t size = sizeof no_delay;
    ASSERT_EQ(::getsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &no_delay, &size), 0);
    EXPECT_EQ(no_delay, 1);
    close_all({listening.front(), client, accepted});
}

TEST(Listen, WorkersShareAPortThatOtherProcessesCannotBind) {
    const auto workers = listen_shared({"127.0.0.1", 0}, 4);
    ASSERT_EQ(workers.size(), 4u);
    for (const auto fd : workers) EXPECT_EQ(port_of(fd), port_of(workers.front()));
    try {
        close_all(listen_shared({"127.0.0.1", port_of(workers.front())}, 1));
        ADD_FAILURE() << "the port could be bound again";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string_view(error.what()).find("ss -ltnp"), std::string_view::npos)
            << error.what();
    }
    // Clients come to all of them.
    std::vector<int> clients;
    for (int i = 0; i < 100; ++i) clients.push_back(connect_to(port_of(workers.front())));
    for (const auto fd : workers) {
        pollfd one{fd, POLLIN, 0};
        EXPECT_EQ(::poll(&one, 1, 10'000), 1);
    }
    close_all(clients);
    close_all(workers);
}

TEST(Listen, KeepsAConnectionMadeBeforeAllSocketsListen) {
    const auto free = listen_shared({"127.0.0.1", 0}, 1);
    const auto port = port_of(free.front());
    close_all(free);
    for (int round = 0; round < 300; ++round) {
        int client = -1;
        std::thread connecting([&] { client = connect_to(port); });
        const auto workers = listen_shared({"127.0.0.1", port}, 4);
        connecting.join();
        std::vector<pollfd> all;
        for (const auto fd : workers) all.push_back({fd, POLLIN, 0});
        const auto ready = ::poll(all.data(), all.size(), 10'000);
        ::close(client);
        close_all(workers);
        ASSERT_GE(ready, 1) << "in round " << round;
    }
}

}  // namespace listen_test
}  // namespace base
