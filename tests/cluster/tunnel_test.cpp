#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "proxy/http/via.hpp"
#include "tests/cluster/fixture.hpp"
#include "tests/temporary_directory.hpp"

namespace proxy::test {
namespace tunnel_test {

using namespace std::chrono_literals;

/// CONNECT through a node to a plain listener, and the statements of a request about the hops
/// before and behind.
class Tunnels : public NodesTest {
protected:
    Tunnels() : listener_(Socket::listen("127.0.0.1", 0)) {}

    Config forward_config() const {
        auto settings = NodesTest::forward_config();
        settings.forward.connect_ports = {443, listener_.port()};
        return settings;
    }
    std::string authority() const { return "127.0.0.1:" + std::to_string(listener_.port()); }

    /// A tunnel: the client's end of it, and the server's.
    struct Pair {
        Client client;
        Socket server;
    };
    Pair open(std::string_view early = {}) {
        Pair pair{client(), {}};
        pair.client.socket.send("CONNECT " + authority() + " HTTP/1.1\r\nHost: x\r\n\r\n" +
                                std::string(early));
        pair.server = listener_.accept();
        EXPECT_EQ(read_established(pair.client), "HTTP/1.1 200 Connection established\r\n\r\n");
        return pair;
    }
    /// The head of the answer, byte by byte, because the bytes behind it belong to the tunnel.
    static std::string read_established(Client& from) {
        std::string head;
        while (!head.ends_with("\r\n\r\n") && from.socket.receive(head, 1)) {
        }
        return head;
    }
    /// Reads exactly so many bytes, or fewer at an end.
    static std::string receive(Socket& from, std::size_t bytes) {
        std::string got;
        while (got.size() < bytes && from.receive(got, bytes - got.size())) {
        }
        return got;
    }
    static bool ended(Socket& socket) {
        std::string rest;
        return !socket.receive(rest) && !socket.was_reset();
    }
    static bool reset(Socket& socket) {
        std::string rest;
        while (socket.receive(rest)) {
        }
        return socket.was_reset();
    }
    /// The tunnel is gone from the node, counted once.
    bool over() {
        return eventually(
            [&] { return status("a").connections == 0 && count("a", Outcome::uncacheable) == 1; });
    }
    Answer connect(std::string_view target, std::string_view fields = {}) const {
        auto connection = client();
        auto answer = connection.ask("CONNECT", target, fields);
        EXPECT_TRUE(connection.at_end()) << target;  // what follows was meant for a tunnel
        return answer;
    }

    Socket listener_;
};

TEST_F(Tunnels, PassBytesBothWaysAndEndWithBothSides) {  // RFC 9110 §9.3.6
    start(forward_config());
    auto [client, server] = open();
    client.socket.send("to the server");
    EXPECT_EQ(receive(server, 13), "to the server");
    server.send("to the client");
    EXPECT_EQ(receive(client.socket, 13), "to the client");
    client.socket.shut_send();
    EXPECT_TRUE(ended(server));
    server.send("still open this way");
    EXPECT_EQ(receive(client.socket, 19), "still open this way");
    server.shut_send();
    EXPECT_TRUE(ended(client.socket));
    EXPECT_TRUE(over());
    EXPECT_EQ(status("a").work.bytes_to_clients, 32u);
    EXPECT_EQ(status("a").work.bytes_from_origins, 32u);
}

TEST_F(Tunnels, MayStateALengthOfZero) {  // as some clients do
    start(forward_config());
    auto connection = client();
    connection.socket.send("CONNECT " + authority() +
                           " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\nearly");
    auto server = listener_.accept();
    EXPECT_EQ(read_established(connection), "HTTP/1.1 200 Connection established\r\n\r\n");
    EXPECT_EQ(receive(server, 5), "early");
}

TEST_F(Tunnels, StayOpenForTheClientAfterTheServersEnd) {
    start(forward_config());
    auto [client, server] = open();
    server.shut_send();
    EXPECT_TRUE(ended(client.socket));
    client.socket.send("late");
    EXPECT_EQ(receive(server, 4), "late");
    client.socket.close();
    EXPECT_TRUE(ended(server));
    EXPECT_TRUE(over());
}

TEST_F(Tunnels, SendFirstWhatCameWithTheRequest) {
    start(forward_config());
    const std::string early(3'000, 'e');
    auto [client, server] = open(early);
    client.socket.send("then this");
    EXPECT_EQ(receive(server, early.size() + 9), early + "then this");
}

TEST_F(Tunnels, HoldBackASenderWhomNobodyReads) {
    start(forward_config());
    auto [client, server] = open();
    const std::string block(1 << 20, 'b');
    std::atomic<std::size_t> sent = 0;
    constexpr std::size_t kBlocks = 64;
    std::thread sender([&, &socket = client.socket] {
        while (sent < kBlocks && socket.send(block)) ++sent;
        socket.shut_send();
    });
    // The bytes in the kernel's buffers and a piece in the node are far less than all.
    std::size_t before = kBlocks + 1;
    EXPECT_TRUE(eventually([&] {
        std::this_thread::sleep_for(50ms);
        return std::exchange(before, sent.load()) == sent;
    }));
    EXPECT_LT(sent, kBlocks);
    std::size_t received = 0;
    std::string piece;
    while (server.receive(piece)) {
        received += piece.size();
        piece.clear();
    }
    sender.join();
    EXPECT_EQ(received, kBlocks * block.size());
}

TEST_F(Tunnels, PassAResetOn) {
    start(forward_config());
    {
        auto [client, server] = open();
        client.socket.reset();
        EXPECT_TRUE(reset(server));
        EXPECT_TRUE(over());
    }
    auto [client, server] = open();
    server.reset();
    EXPECT_TRUE(reset(client.socket));
    EXPECT_TRUE(eventually([&] { return status("a").connections == 0; }));
}

TEST_F(Tunnels, NoticeAResetOfTheSideThatHasNothingToSay) {
    start(forward_config());
    auto [client, server] = open();
    client.socket.shut_send();
    EXPECT_TRUE(ended(server));
    client.socket.reset();
    EXPECT_TRUE(over());
    EXPECT_TRUE(eventually([&, &socket = server] { return !socket.send("x"); }));
}

TEST_F(Tunnels, EndWhenNothingPassesForTooLong) {
    auto settings = forward_config();
    settings.timeouts.tunnel_idle = 100ms;
    start(settings);
    auto [client, server] = open();
    EXPECT_TRUE(ended(client.socket));
    EXPECT_TRUE(ended(server));
    client.socket.close();
    EXPECT_TRUE(over());
}

TEST_F(Tunnels, OutliveADrainUntilItsTimeIsOver) {
    auto settings = forward_config();
    settings.timeouts.drain = 3s;
    auto& node = start(settings);
    auto [client, server] = open();
    node.drain();
    client.socket.send("while draining");
    EXPECT_EQ(receive(server, 14), "while draining");
    EXPECT_TRUE(ended(client.socket));
    EXPECT_TRUE(ended(server));
    node.join();
}

TEST_F(Tunnels, AreOnlyOpenedToAllowedPortsByAForwardProxy) {
    auto settings = forward_config();
    settings.forward.private_destinations = Destinations::deny;
    start(settings);
    EXPECT_EQ(connect("127.0.0.1:22").status, 403u);
    EXPECT_NE(connect("127.0.0.1:22").body.find("connect_ports"), std::string::npos);
    EXPECT_EQ(connect("127.0.0.1").status, 400u);
    EXPECT_EQ(connect("127.0.0.1:").status, 400u);
    EXPECT_EQ(connect("u@127.0.0.1:443").status, 400u);
    EXPECT_EQ(connect("http://127.0.0.1:443/").status, 400u);
    EXPECT_EQ(connect(authority(), "Content-Length: 4\r\n").status, 400u);
    EXPECT_EQ(connect(authority(), "Content-Length: 0\r\nContent-Length: 4\r\n").status, 400u);
    EXPECT_EQ(connect(authority(), "Transfer-Encoding: chunked\r\n").status, 400u);
    EXPECT_EQ(status("a").work.refusals[RequestRefusal::destination], 2u);

    start(config("b"));  // a reverse proxy
    auto connection = client("b");
    const auto answer = connection.ask("CONNECT", authority());
    EXPECT_EQ(answer.status, 403u);
    EXPECT_NE(answer.body.find("forward.enabled"), std::string::npos) << answer.body;
}

TEST_F(Tunnels, AreNotOpenedToPrivateAddressesWhateverTheirName) {
    auto settings = forward_config();
    settings.forward.private_destinations = Destinations::deny;
    settings.origins = config("a").origins;  // which do not count here
    start(settings);
    const auto port = std::to_string(listener_.port());
    for (const auto* host :
         {"127.0.0.1", "localhost", "LocalHost", "[::1]", "[::ffff:127.0.0.1]"}) {
        const auto answer = connect(host + (":" + port));
        EXPECT_EQ(answer.status, 403u) << host;
        EXPECT_NE(answer.body.find("a private address"), std::string::npos) << answer.body;
    }
}

TEST_F(Tunnels, SayWhyTheServerCannotBeReached) {
    auto settings = forward_config();
    const auto unused = Socket::listen("127.0.0.1", 0);
    unused.shut();
    settings.forward.connect_ports.push_back(unused.port());
    start(settings);
    const auto refused =
        connect("127.0.0.1:" + std::to_string(settings.forward.connect_ports.back()));
    EXPECT_EQ(refused.status, 502u);
    EXPECT_EQ(refused.cache_status(), "a; fwd=method; detail=connect_failed");
    EXPECT_EQ(connect("no-such-host.invalid:443").status, 502u);
    EXPECT_EQ(count("a", Outcome::error), 2u);
}

TEST_F(Tunnels, TakeASeatAtTheServer) {
    auto settings = forward_config();
    settings.limits.upstream_connections = 1;
    start(settings);
    {
        auto [client, server] = open();
        EXPECT_EQ(connect(authority()).status, 503u);
    }
    EXPECT_TRUE(eventually([&] { return status("a").connections == 0; }));
    auto [client, server] = open();
}

TEST_F(Tunnels, StandInTheAccessLog) {
    const TemporaryDirectory folder;
    const auto file = folder.path() / "access.log";
    auto settings = forward_config();
    settings.log.access = file;
    start(settings);
    {
        auto [client, server] = open();
        server.send("twelve bytes");
        EXPECT_EQ(receive(client.socket, 12), "twelve bytes");
    }
    EXPECT_TRUE(over());
    kill("a");  // writes what is pending
    std::ifstream in(file);
    const std::string line(std::istreambuf_iterator<char>(in), {});
    for (const auto* part : {R"("method":"CONNECT")", R"("status":200)", R"("bytes":12)",
                             R"("outcome":"uncacheable")", R"("source":"origin")"})
        EXPECT_NE(line.find(part), std::string::npos) << part << " in " << line;
    EXPECT_NE(line.find("\"url\":\"" + authority() + "\""), std::string::npos) << line;
}

class Hops : public NodesTest {};

TEST_F(Hops, RefuseARequestThatHasPassedThisNode) {  // RFC 9110 §7.6.3
    start(config("a"));
    for (const auto* via :
         {"Via: 1.1 a\r\n", "Via: 1.0 x, 1.1 A (b)\r\n", "Via: 1.1 x\r\nVia: 1.1 y,1.1 a\r\n"})
        for (const auto* method : {"GET", "POST", "OPTIONS"})
            EXPECT_EQ(client().ask(method, "/one", via).status, 508u) << method << via;
    EXPECT_EQ(origin.requests(), 0u);
    EXPECT_EQ(status("a").work.refusals[RequestRefusal::loop], 9u);
    EXPECT_EQ(get("a", "/one", "Via: 1.1 b, 1.1 aa\r\n").status, 200u);
}

TEST_F(Hops, RefuseToGoRoundInCircles) {
    auto settings = config("a");
    settings.origins = {{"*", {address("a"), kProxyPort}}};  // itself
    start(settings);
    EXPECT_EQ(get("a", "/one").status, 508u);
}

TEST_F(Hops, KnowTheirPseudonym) {
    auto settings = config("a");
    settings.forwarded.via = ViaMode::pseudonym;
    start(settings);
    EXPECT_EQ(get("a", "/one").status, 200u);
    const auto head = origin.heads().at(0);
    EXPECT_EQ(head.find("Via: 1.1 a\r\n"), std::string::npos) << head;
    EXPECT_TRUE(contains(head, "Via: 1.1 " + via_pseudonym("a") + "\r\n")) << head;
    EXPECT_EQ(get("a", "/two", "Via: 1.1 " + via_pseudonym("a") + "\r\n").status, 508u);
    EXPECT_EQ(get("a", "/two", "Via: 1.1 a\r\n").status, 508u);
    EXPECT_EQ(get("a", "/two", "Via: 1.1 " + via_pseudonym("b") + "\r\n").status, 200u);
    kill("a");
    settings.origins = {{"*", {address("a"), kProxyPort}}};  // itself
    start(settings);
    EXPECT_EQ(get("a", "/one").status, 508u);
}

TEST_F(Hops, LeaveTheirNameOutOfRequestsOnly) {
    auto settings = config("a");
    settings.forwarded.via = ViaMode::off;
    start(settings);
    const auto answer = get("a", "/one");
    EXPECT_EQ(client().ask("POST", "/two", "", "x").status, 200u);
    for (const auto& head : origin.heads()) EXPECT_EQ(head.find("Via:"), std::string::npos) << head;
    EXPECT_TRUE(contains(answer.head, "Via: 1.1 a")) << answer.head;
}

TEST_F(Hops, AnswerHereWhatMayGoNoFurther) {  // RFC 9110 §7.6.2
    start(config("a"));
    auto connection = client();
    const auto options = connection.ask("OPTIONS", "/one", "Max-Forwards: 0\r\n");
    EXPECT_EQ(options.status, 200u);
    EXPECT_NE(options.field("Allow").find("GET"), std::string::npos);
    EXPECT_EQ(options.body, "");
    EXPECT_EQ(connection.ask("OPTIONS", "*", "Max-Forwards: 0\r\n").status, 200u);
    EXPECT_EQ(origin.requests(), 0u);
}

// The answer would have the fields that rules and parents get from the node.
TEST_F(Hops, RefuseToEcho) {
    start(config("a"));
    auto connection = client();
    for (const auto* method : {"TRACE", "TRACK", "trace"})
        for (const auto* fields :
             {"", "Max-Forwards: 0\r\n", "Max-Forwards: 9\r\n", "Max-Forwards: x\r\n"}) {
            const auto refusal = connection.ask(method, "/one", fields);
            EXPECT_EQ(refusal.status, 405u) << method << " " << fields;
            EXPECT_EQ(refusal.field("Allow"), "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
        }
    EXPECT_EQ(origin.requests(), 0u);
    EXPECT_EQ(connection.get("/one").status, 200u) << "the connection goes on";
}

TEST_F(Hops, CountDownWhatMayGoFurther) {
    start(config("a"));
    EXPECT_EQ(client().ask("OPTIONS", "*", "max-forwards: 10\r\n").status, 200u);
    EXPECT_EQ(client().ask("OPTIONS", "/one").status, 200u);
    EXPECT_EQ(get("a", "/two", "Max-Forwards: 0\r\n").status, 200u);  // means nothing for a GET
    const auto heads = origin.heads();
    ASSERT_EQ(heads.size(), 3u);
    EXPECT_TRUE(heads[0].starts_with("OPTIONS * HTTP/1.1\r\n")) << heads[0];
    EXPECT_EQ(field_of(heads[0], "Max-Forwards"), "9");
    EXPECT_EQ(field_of(heads[1], "Max-Forwards"), "");
    EXPECT_EQ(client().ask("OPTIONS", "/", "Max-Forwards: few\r\n").status, 400u);
    EXPECT_EQ(origin.requests(), 3u);
}

TEST_F(Hops, RefuseTlsOnThePlainPortAtOnce) {
    start(config("a"));
    auto connection = client();
    // The beginning of a ClientHello, without anything that could end a head.
    connection.socket.send(std::string_view("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11));
    EXPECT_EQ(connection.read().status, 400u);
    EXPECT_TRUE(connection.at_end());
}

}  // namespace tunnel_test
}  // namespace proxy::test
