#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/net/name_table.hpp"

namespace base {

inline constexpr std::size_t kMaxAddressesPerName = 16;
/// The longest answer by UDP that the node allows a server (RFC 6891). It fits into the packets of
/// every network, so no firewall drops a fragment of it. Some 75 addresses fit, against 29 in the
/// 512 bytes of a question without this statement.
inline constexpr int kUdpAnswerBytes = 1232;

/// Settings of DNS look-ups. The defaults are the system's settings.
struct DnsSettings {
    std::string servers;  // `address:port,...`; empty: those of resolv.conf
    bool search = true;   // also tries the domains of resolv.conf
    std::chrono::milliseconds patience{
        1000};      // for the first answer of one server; doubled afterwards
    int tries = 2;  // at each server
    std::chrono::milliseconds at_most{10'000};        // for one name in total
    std::size_t most_records = kMaxAddressesPerName;  // of its answer; further ones are dropped

    bool operator==(const DnsSettings&) const = default;
};

/// A question (RFC 1035) in flight. Its destructor cancels it.
class NameQuestion {
public:
    NameQuestion() = default;
    NameQuestion(const NameQuestion&) = delete;
    NameQuestion& operator=(const NameQuestion&) = delete;
    virtual ~NameQuestion() = default;
};

/// Looks a name up as the C library would, and never blocks: /etc/hosts (or the file that
/// CARES_HOSTS names), name servers in the order of nsswitch.conf, search domains, both address
/// families. c-ares reads these files again for each question, so a change of resolv.conf takes
/// effect with the next. Each question has its own sockets, and so an unpredictable source port. A
/// longer answer comes by TCP. Where no server answers by TCP within `patience`, a part of the
/// records will do (NameAnswer::truncated).
/// `done` is called once, from the event loop, after this function has returned. It may destroy the
/// question.
std::unique_ptr<NameQuestion> ask_dns(boost::asio::any_io_executor executor,
                                      const DnsSettings& settings, const std::string& host,
                                      std::function<void(NameAnswer)> done);
/// The same for SRV records, by name servers alone. The answer has `services`; its TTL is unknown.
std::unique_ptr<NameQuestion> ask_srv(boost::asio::any_io_executor executor,
                                      const DnsSettings& settings, const std::string& service,
                                      std::function<void(NameAnswer)> done);

}  // namespace base
