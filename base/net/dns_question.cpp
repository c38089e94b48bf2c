#include "base/net/dns_question.hpp"

#include <ares.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/async/deadline.hpp"

namespace base {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

asio::ip::address address_of(const sockaddr& from) {
    if (from.sa_family == AF_INET) {
        sockaddr_in v4;
        std::memcpy(&v4, &from, sizeof v4);
        return asio::ip::address_v4(ntohl(v4.sin_addr.s_addr));
    }
    sockaddr_in6 v6;
    std::memcpy(&v6, &from, sizeof v6);
    asio::ip::address_v6::bytes_type bytes;
    std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
    return asio::ip::address_v6(bytes, v6.sin6_scope_id);
}

NameAnswer::Kind kind_of(int status) {
    switch (status) {
        case ARES_SUCCESS:
            return NameAnswer::Kind::found;
        case ARES_ENOTFOUND:
        case ARES_ENODATA:
        case ARES_EBADNAME:
        case ARES_ESERVICE:
            return NameAnswer::Kind::no_such_name;
        case ARES_ETIMEOUT:
            return NameAnswer::Kind::silence;
        default:
            return NameAnswer::Kind::trouble;
    }
}

NameAnswer answer_of(int status, const ares_addrinfo* found, std::size_t most) {
    NameAnswer answer;
    answer.kind = kind_of(status);
    if (answer.kind != NameAnswer::Kind::found || found == nullptr) return answer;
    std::optional<int> ttl;
    for (const auto* node = found->nodes; node != nullptr; node = node->ai_next) {
        if (node->ai_family != AF_INET && node->ai_family != AF_INET6) continue;
        ttl = std::min(ttl.value_or(node->ai_ttl), node->ai_ttl);
        const auto address = address_of(*node->ai_addr);
        auto& known = answer.addresses;
        if (known.size() < most && std::find(known.begin(), known.end(), address) == known.end())
            known.push_back(address);
    }
    for (const auto* alias = found->cnames; alias != nullptr; alias = alias->next)
        ttl = std::min(ttl.value_or(alias->ttl), alias->ttl);
    answer.ttl = std::chrono::seconds(std::max(ttl.value_or(0), 0));
    answer.kind =
        answer.addresses.empty() ? NameAnswer::Kind::no_such_name : NameAnswer::Kind::found;
    return answer;
}

NameAnswer services_of(int status, const unsigned char* reply, int bytes, std::size_t most) {
    NameAnswer answer;
    ares_srv_reply* records = nullptr;
    if (status == ARES_SUCCESS) status = ares_parse_srv_reply(reply, bytes, &records);
    answer.kind = kind_of(status);
    for (const auto* record = records; record != nullptr; record = record->next) {
        if (answer.services.size() >= most) break;
        answer.services.push_back({record->host, record->port});
    }
    if (records != nullptr) ares_free_data(records);
    if (answer.kind == NameAnswer::Kind::found && answer.services.empty())
        answer.kind = NameAnswer::Kind::no_such_name;
    return answer;
}

/// A host that is meant as an address, as no name ends in a number. Resolver takes well-formed
/// addresses. c-ares would read others in its own way (`127.0.0.010`), past every list of hosts.
bool looks_like_address(std::string_view host) {
    if (host.find(':') != std::string_view::npos) return true;
    if (host.ends_with('.')) host.remove_suffix(1);
    const auto last = host.substr(host.rfind('.') + 1);
    return !last.empty() &&
           std::all_of(last.begin(), last.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_stream(int fd) {
    int type = 0;
    socklen_t size = sizeof type;
    return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

/// An empty packet of a longer answer does not say that there is nothing.
void note_truncation(NameAnswer& answer) {
    answer.truncated = true;
    if (answer.kind == NameAnswer::Kind::no_such_name) answer.kind = NameAnswer::Kind::trouble;
}

/// Drives one channel of c-ares. The handlers of its waits share it, as they may run after its end.
class Channel : public std::enable_shared_from_this<Channel> {
public:
    using AnswerHandler = std::function<void(NameAnswer)>;

    Channel(asio::any_io_executor executor, std::chrono::milliseconds at_most, AnswerHandler done)
        : executor_(std::move(executor)),
          done_(std::move(done)),
          timer_(executor_),
          ends_(Clock::now() + at_most) {}
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;
    ~Channel() { end(); }

    enum class Records { addresses, services };

    void ask(const DnsSettings& settings, const std::string& host, Records records) {
        settings_ = settings;
        host_ = host;
        records_ = records;
        begin(0);
        asio::post(executor_, [self = shared_from_this()] { self->settle(); });
    }

    /// `done` is called no more.
    void end() {
        done_ = nullptr;
        timer_.cancel();
        if (channel_ != nullptr) ares_destroy(std::exchange(channel_, nullptr));
    }

private:
    /// `how`: further flags.
    void begin(int how) {
        how_ = how;
        static const int ready = ares_library_init(ARES_LIB_INIT_ALL);
        ares_options options{};
        options.flags = how | ARES_FLAG_EDNS | (settings_.search ? 0 : ARES_FLAG_NOSEARCH);
        options.ednspsz = kUdpAnswerBytes;
        options.timeout = static_cast<int>(settings_.patience.count());
        options.tries = settings_.tries;
        options.sock_state_cb = [](void* self, ares_socket_t fd, int read, int write) {
            static_cast<Channel*>(self)->watch(fd, read != 0, write != 0);
        };
        options.sock_state_cb_data = this;
        auto status = ready;
        if (status == ARES_SUCCESS)
            status = ares_init_options(&channel_, &options,
                                       ARES_OPT_FLAGS | ARES_OPT_EDNSPSZ | ARES_OPT_TIMEOUTMS |
                                           ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB);
        if (status != ARES_SUCCESS) channel_ = nullptr;
        if (status == ARES_SUCCESS && !settings_.servers.empty())
            status = ares_set_servers_ports_csv(channel_, settings_.servers.c_str());
        if (status == ARES_SUCCESS && records_ == Records::services) {
            ares_search(
                channel_, host_.c_str(), 1, 33,  // of the internet, SRV (RFC 2782)
                [](void* self, int result, int, unsigned char* reply, int bytes) {
                    auto& channel = *static_cast<Channel*>(self);
                    channel.answer_ = services_of(result, reply, bytes, channel.most());
                },
                this);
        } else if (status == ARES_SUCCESS && looks_like_address(host_)) {
            answer_ = answer_of(ARES_EBADNAME, nullptr, most());
        } else if (status == ARES_SUCCESS) {
            ares_addrinfo_hints hints{};
            hints.ai_family = AF_UNSPEC;
            hints.ai_flags = ARES_AI_ENVHOSTS;
            ares_getaddrinfo(
                channel_, host_.c_str(), nullptr, &hints,
                [](void* self, int result, int, ares_addrinfo* found) {
                    auto& channel = *static_cast<Channel*>(self);
                    channel.answer_ = answer_of(result, found, channel.most());
                    if (found != nullptr) ares_freeaddrinfo(found);
                },
                this);
        } else {
            answer_ = answer_of(status, nullptr, most());
        }
    }

    /// An answer was too long for its packet, and TCP gives none.
    bool tcp_has_failed(Clock::time_point now) const {
        if (how_ == ARES_FLAG_IGNTC || by_tcp_until_ == kNever) return false;
        if (!answer_) return now >= by_tcp_until_;
        return answer_->kind == NameAnswer::Kind::silence ||
               answer_->kind == NameAnswer::Kind::trouble;
    }

    /// Asks once more, for the records of the packet.
    void take_what_fits() {
        if (channel_ != nullptr) ares_destroy(std::exchange(channel_, nullptr));
        answer_.reset();  // destroying the channel answers its open questions
        begin(ARES_FLAG_IGNTC);
    }

    std::size_t most() const { return settings_.most_records; }

    struct Socket {
        Socket(const asio::any_io_executor& executor, int fd) : descriptor(executor) {
            error_code ignored;  // then this socket stays silent
            descriptor.assign(fd, ignored);
        }

        asio::posix::stream_descriptor descriptor;  // c-ares owns the descriptor
        bool read = false, write = false;           // wanted
        bool reading = false, writing = false;      // waited for
    };

    /// c-ares states its next wait; with neither it closes the socket next.
    void watch(int fd, bool read, bool write) {
        auto& socket = sockets_[fd];
        if (!read && !write) {
            if (socket && socket->descriptor.is_open()) socket->descriptor.release();
            sockets_.erase(fd);
            return;
        }
        if (!socket) {
            socket = std::make_shared<Socket>(executor_, fd);
            if (by_tcp_until_ == kNever && is_stream(fd))
                by_tcp_until_ = Clock::now() + settings_.patience;
        }
        socket->read = read;
        socket->write = write;
        wait(fd, socket);
    }

    void wait(int fd, const std::shared_ptr<Socket>& socket) {
        using Descriptor = asio::posix::stream_descriptor;
        const auto wait_for = [&](Descriptor::wait_type what, bool wanted, bool Socket::*waits) {
            if (!wanted || (*socket).*waits) return;
            (*socket).*waits = true;
            auto ready = [self = shared_from_this(), fd, what, socket, waits](error_code error) {
                (*socket).*waits = false;
                if (error || self->channel_ == nullptr) return;
                const auto may_read = what == Descriptor::wait_read;
                ares_process_fd(self->channel_, may_read ? fd : ARES_SOCKET_BAD,
                                may_read ? ARES_SOCKET_BAD : fd);
                const auto known = self->sockets_.find(fd);
                if (known != self->sockets_.end() && known->second == socket)
                    self->wait(fd, socket);
                self->settle();
            };
            socket->descriptor.async_wait(what, std::move(ready));
        };
        wait_for(Descriptor::wait_read, socket->read, &Socket::reading);
        wait_for(Descriptor::wait_write, socket->write, &Socket::writing);
    }

    /// Delivers the answer, or waits for the next time-out of c-ares.
    void settle() {
        if (channel_ == nullptr && !answer_) return;  // ended
        const auto now = Clock::now();
        if (tcp_has_failed(now) && now < ends_) take_what_fits();
        if (!answer_ && now >= ends_) answer_ = answer_of(ARES_ETIMEOUT, nullptr, most());
        if (answer_) {
            if (how_ == ARES_FLAG_IGNTC) note_truncation(*answer_);
            const auto self = shared_from_this();  // the owner may destroy the channel
            auto answer = *std::exchange(answer_, std::nullopt);
            const auto done = std::exchange(done_, nullptr);
            end();
            answer_.reset();  // destroying the channel answers its open questions
            if (done) done(std::move(answer));
            return;
        }
        timeval longest{}, next{};
        const auto last = how_ == ARES_FLAG_IGNTC ? ends_ : std::min(ends_, by_tcp_until_);
        const auto left = std::chrono::duration_cast<std::chrono::microseconds>(last - now);
        longest.tv_sec = static_cast<time_t>(left.count() / 1'000'000);
        longest.tv_usec = static_cast<suseconds_t>(left.count() % 1'000'000);
        const auto* until = ares_timeout(channel_, &longest, &next);
        timer_.expires_at(now + std::chrono::seconds(until->tv_sec) +
                          std::chrono::microseconds(until->tv_usec));
        timer_.async_wait([self = shared_from_this()](error_code error) {
            if (error || self->channel_ == nullptr) return;
            ares_process_fd(self->channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
            self->settle();
        });
    }

    asio::any_io_executor executor_;
    AnswerHandler done_;
    asio::steady_timer timer_;
    const Clock::time_point ends_;
    DnsSettings settings_;
    std::string host_;
    Records records_ = Records::addresses;
    int how_ = 0;  // ARES_FLAG_IGNTC: what fits into a packet will do
    static constexpr auto kNever = Clock::time_point::max();
    Clock::time_point by_tcp_until_ = kNever;  // once an answer is to come by TCP
    ares_channel channel_ = nullptr;
    std::unordered_map<int, std::shared_ptr<Socket>> sockets_;
    std::optional<NameAnswer> answer_;
};

class DnsQuestion final : public NameQuestion {
public:
    explicit DnsQuestion(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}
    ~DnsQuestion() override { channel_->end(); }

private:
    std::shared_ptr<Channel> channel_;
};

}  // namespace

namespace {

std::unique_ptr<NameQuestion> ask(asio::any_io_executor executor, const DnsSettings& settings,
                                  const std::string& name, Channel::Records records,
                                  std::function<void(NameAnswer)> done) {
    auto channel =
        std::make_shared<Channel>(std::move(executor), settings.at_most, std::move(done));
    channel->ask(settings, name, records);
    return std::make_unique<DnsQuestion>(std::move(channel));
}

}  // namespace

std::unique_ptr<NameQuestion> ask_dns(asio::any_io_executor executor, const DnsSettings& settings,
                                      const std::string& host,
                                      std::function<void(NameAnswer)> done) {
    return ask(std::move(executor), settings, host, Channel::Records::addresses, std::move(done));
}

std::unique_ptr<NameQuestion> ask_srv(asio::any_io_executor executor, const DnsSettings& settings,
                                      const std::string& service,
                                      std::function<void(NameAnswer)> done) {
    return ask(std::move(executor), settings, service, Channel::Records::services, std::move(done));
}

}  // namespace base
