#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "protocol/net/name_table.hpp"

namespace protocol {

inline constexpr std::size_t kMaxAddressesPerName = 16;

/// How name servers are asked. The defaults are the system's settings.
struct DnsSettings {
    std::string servers;                        // `address:port,...`; empty: those of resolv.conf
    bool search = true;                         // the domains of resolv.conf are tried, too
    std::chrono::milliseconds patience{1000};   // for the first answer of one server; then twice
    int tries = 2;                              // at each server
    std::chrono::milliseconds at_most{10'000};  // for one name, all told
    std::size_t most_records = kMaxAddressesPerName;  // of its answer, the others are left out

    bool operator==(const DnsSettings&) const = default;
};

/// One name being looked up; its destruction ends that.
class NameQuestion {
public:
    NameQuestion() = default;
    NameQuestion(const NameQuestion&) = delete;
    NameQuestion& operator=(const NameQuestion&) = delete;
    virtual ~NameQuestion() = default;
};

/// Asks as the C library would, but never blocks: /etc/hosts (or the file that CARES_HOSTS names)
/// and name servers in the order of nsswitch.conf, search domains, both families. By c-ares, which
/// reads these files anew for each question, so that a change of resolv.conf counts for the next;
/// each question has sockets of its own, and so a source port that nobody can guess. `done` is
/// called once, from the event loop, never before this returns; it may end the question.
std::unique_ptr<NameQuestion> ask_dns(boost::asio::any_io_executor executor,
                                      const DnsSettings& settings, const std::string& host,
                                      std::function<void(NameAnswer)> done);
/// The same for SRV records, of name servers only. The answer has `services`, and no TTL.
std::unique_ptr<NameQuestion> ask_srv(boost::asio::any_io_executor executor,
                                      const DnsSettings& settings, const std::string& service,
                                      std::function<void(NameAnswer)> done);

}  // namespace protocol
