#pragma once

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace base::test {

/// A name server (RFC 1035) with the answers of a test, by UDP and TCP.
class DnsServer {
public:
    struct Reply {
        enum class Code : unsigned char { ok = 0, server_failure = 2, no_such_name = 3 };
        std::vector<std::string> addresses;  // of either family: each query gets its own
        std::vector<std::pair<std::string, unsigned>> services;  // hosts and ports, for SRV
        unsigned ttl = 60;
        Code code = Code::ok;
        bool silent = false;
        bool truncated = false;     // by UDP; by TCP it comes whole
        std::size_t in_packet = 0;  // records of a truncated answer
        bool silent_by_tcp = false;
    };
    using Script = std::function<Reply(const std::string& name)>;

    DnsServer(boost::asio::io_context& io, Script says)
        : script(std::move(says)), udp_(io), tcp_(io) {
        bind();
        receive();
        accept();
    }

    std::string place() const {
        return "127.0.0.1:" + std::to_string(udp_.local_endpoint().port());
    }
    /// Names in the order in which they were asked for, A queries only.
    std::vector<std::string> asked;
    std::size_t by_tcp = 0;
    Script script;
    void refuse_tcp() { tcp_.close(); }

private:
    static constexpr std::size_t kHeader = 12;
    static constexpr unsigned kA = 1, kAaaa = 28, kSrv = 33, kOpt = 41;

    /// One port for both, which neither may have lent to somebody else.
    void bind() {
        namespace ip = boost::asio::ip;
        const auto address = ip::make_address("127.0.0.1");
        boost::system::error_code taken;
        do {
            tcp_ = ip::tcp::acceptor(tcp_.get_executor(), {address, 0});
            udp_ = ip::udp::socket(udp_.get_executor(), ip::udp::v4());
            udp_.bind({address, tcp_.local_endpoint().port()}, taken);
        } while (taken);
    }

    using Bytes = std::vector<unsigned char>;

    /// RFC 2782, with all of the same priority and weight.
    static Bytes service(const std::string& host, unsigned port) {
        Bytes data;
        for (const auto field : {0U, 0U, port}) put16(data, field);
        for (std::size_t from = 0; from < host.size();) {
            const auto to = std::min(host.find('.', from), host.size());
            data.push_back(static_cast<unsigned char>(to - from));
            data.insert(data.end(), host.begin() + static_cast<long>(from),
                        host.begin() + static_cast<long>(to));
            from = to + 1;
        }
        data.push_back(0);
        return data;
    }

    static void put16(Bytes& out, unsigned value) {
        out.push_back(static_cast<unsigned char>(value >> 8));
        out.push_back(static_cast<unsigned char>(value));
    }

    /// Empty: nothing is said.
    Bytes answer(const Bytes& query, bool tcp) {
        std::string name;
        auto at = kHeader;
        while (at < query.size() && query[at] != 0) {
            if (!name.empty()) name += '.';
            name.append(query.begin() + static_cast<long>(at) + 1,
                        query.begin() + static_cast<long>(at) + 1 + query[at]);
            at += query[at] + 1U;
        }
        const auto type = query.at(at + 1) << 8U | query.at(at + 2);
        const auto end = at + 5;
        if (type == kA) asked.push_back(name);
        if (tcp) ++by_tcp;
        const auto reply = script(name);
        if (reply.silent || (tcp && reply.silent_by_tcp)) return {};
        auto cut = reply.truncated && !tcp;
        std::vector<Bytes> records;
        for (const auto& text : reply.addresses) {
            const auto address = boost::asio::ip::make_address(text);
            if (type == kSrv || address.is_v4() != (type == kA)) continue;
            const auto append = [&](const auto& bytes) {
                records.emplace_back(bytes.begin(), bytes.end());
            };
            address.is_v4() ? append(address.to_v4().to_bytes())
                            : append(address.to_v6().to_bytes());
        }
        for (const auto& [host, port] : reply.services)
            if (type == kSrv) records.push_back(service(host, port));
        // RFC 6891: the record behind the question says how long an answer may be.
        auto room = 512U;
        if (query.size() > end + 4 && query[end + 2] == kOpt)
            room = static_cast<unsigned>(query[end + 3] << 8U | query[end + 4]);
        constexpr std::size_t kBeforeData = 12;
        auto size = end;
        for (const auto& data : records) size += kBeforeData + data.size();
        cut = cut || (!tcp && size > room);
        if (cut) records.resize(std::min(records.size(), reply.in_packet));
        Bytes out(query.begin(), query.begin() + 2);
        put16(out, 0x8180U | (cut ? 0x0200U : 0U) | static_cast<unsigned>(reply.code));
        put16(out, 1);
        put16(out, static_cast<unsigned>(records.size()));
        put16(out, 0);
        put16(out, 0);
        out.insert(out.end(), query.begin() + kHeader, query.begin() + static_cast<long>(end));
        for (const auto& data : records) {
            put16(out, 0xc000U + kHeader);
            put16(out, static_cast<unsigned>(type));
            put16(out, 1);
            put16(out, reply.ttl >> 16);
            put16(out, reply.ttl & 0xffffU);
            put16(out, static_cast<unsigned>(data.size()));
            out.insert(out.end(), data.begin(), data.end());
        }
        return out;
    }

    void receive() {
        udp_.async_receive_from(
            boost::asio::buffer(packet_), from_, [this](boost::system::error_code error, auto n) {
                if (error) return;
                const auto out = answer({packet_.begin(), packet_.begin() + n}, false);
                if (!out.empty()) udp_.send_to(boost::asio::buffer(out), from_);
                receive();
            });
    }

    void accept() {
        tcp_.async_accept([this](boost::system::error_code error, auto socket) {
            if (error) return;
            const auto client = std::make_shared<boost::asio::ip::tcp::socket>(std::move(socket));
            serve(client);
            accept();
        });
    }

    void serve(const std::shared_ptr<boost::asio::ip::tcp::socket>& client) {
        const auto query = std::make_shared<Bytes>(2);
        boost::asio::async_read(*client, boost::asio::buffer(*query),
                                [this, client, query](boost::system::error_code error, auto) {
                                    if (error) return;
                                    query->resize(std::size_t{(*query)[0]} << 8U | (*query)[1]);
                                    boost::system::error_code cut;  // the rest is on its way
                                    boost::asio::read(*client, boost::asio::buffer(*query), cut);
                                    const auto said = answer(*query, true);
                                    Bytes out;
                                    put16(out, static_cast<unsigned>(said.size()));
                                    out.insert(out.end(), said.begin(), said.end());
                                    if (!said.empty())
                                        boost::asio::write(*client, boost::asio::buffer(out), cut);
                                    serve(client);
                                });
    }

    boost::asio::ip::udp::socket udp_;
    boost::asio::ip::tcp::acceptor tcp_;
    std::array<unsigned char, 4096> packet_{};
    boost::asio::ip::udp::endpoint from_;
};

}  // namespace base::test
