#include "protocol/links/dial_report.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <iterator>
#include <string_view>

#include "protocol/wire/error.hpp"

namespace protocol {
namespace {

struct DialLine {
    std::uint64_t number;
    std::string_view reason;  // as in reason_of()
};
/// A number is read as the first reason with it.
constexpr DialLine kReported[] = {
    {3, "connection_refused"},    {4, "connect_timeout"},     {4, "connection_timed_out"},
    {5, "host_unreachable"},      {5, "network_unreachable"}, {5, "network_down"},
    {5, "address_not_available"}, {6, "resolve_failed"},      {6, "resolve_timeout"},
    {7, "hello_timeout"},         {7, "connection_closed"},   {7, "connection_reset"},
    {7, "malformed_frame"},       {7, "frame_too_large"},     {7, "frame_too_short"},
    {7, "unknown_frame"},         {7, "tls_failed"},          {8, "not_permitted"},
    {kHasLeftReport, "goodbye"},
};
constexpr std::uint64_t kOther = kLeastDialReport;

}  // namespace

std::uint64_t dial_report(const boost::system::error_code& error) {
    if (!error || error == boost::asio::error::operation_aborted) return 0;
    if (is_refusal(error))
        return std::min(static_cast<std::uint64_t>(error.value()), kMostDialReport);
    const auto reason = reason_of(error);
    const auto* known =
        std::find_if(std::begin(kReported), std::end(kReported),
                     [&](const DialLine& reported) { return reported.reason == reason; });
    return known == std::end(kReported) ? kOther : known->number;
}

std::string reason_in(std::uint64_t report) {
    if (report < kLeastDialReport || report > kMostDialReport) return {};
    constexpr auto kFirstRefusal = static_cast<std::uint64_t>(Error::first_refusal);
    constexpr auto kLastRefusal = static_cast<std::uint64_t>(Error::last_refusal);
    if (report >= kFirstRefusal && report <= kLastRefusal)
        return std::string(name(static_cast<Error>(report)));
    const auto* known =
        std::find_if(std::begin(kReported), std::end(kReported),
                     [&](const DialLine& reported) { return reported.number == report; });
    return known == std::end(kReported) ? "failed" : std::string(known->reason);
}

}  // namespace protocol
