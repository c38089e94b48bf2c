#include "proxy/admin/node_report.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "protocol/membership/peer_config.hpp"
#include "protocol/wire/wire.hpp"

namespace proxy {
namespace {

using base::ByteView;
using protocol::Bytes;

// protocol/FORMAT.md, Reports.
constexpr std::uint8_t kReportVersion = 1;
constexpr std::uint8_t kVersionSection = 1, kNumbersSection = 2, kLinksSection = 3;
constexpr std::size_t kMaxVersionBytes = 32;
constexpr std::size_t kMaxVarintBytes = 10;
constexpr std::size_t kMaxReportedLinks = 256;  // a report has no room for more
constexpr std::size_t kFewLinks = 32;
constexpr double kSlowAnswerSeconds = 1;  // as the dashboard has it
static_assert(static_cast<int>(protocol::PeerState::refused) == 9, "the numbers of FORMAT.md");
constexpr double kMillion = 1e6, kBillion = 1e9;
/// For the head of the report and of the section of links, with its count of those left out.
constexpr std::size_t kHeadsBytes = 16;

void put_varint(std::uint64_t value, Bytes& out) {
    for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>((value & 0x7f) | 0x80));
    out.push_back(static_cast<std::byte>(value));
}

void put_text(std::string_view text, Bytes& out) {
    put_varint(text.size(), out);
    const auto bytes = std::as_bytes(std::span(text));
    out.insert(out.end(), bytes.begin(), bytes.end());
}

void put_block(const Bytes& block, Bytes& out) {
    put_varint(block.size(), out);
    out.insert(out.end(), block.begin(), block.end());
}

/// Takes values off the front. After one that does not fit, all read as zero, and failed() is true.
class ReportReader {
public:
    explicit ReportReader(ByteView in) : in_(in) {}

    std::uint64_t varint() {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < kMaxVarintBytes && !in_.empty(); ++i) {
            const auto byte = std::to_integer<std::uint64_t>(in_.front());
            in_ = in_.subspan(1);
            if (i + 1 == kMaxVarintBytes && byte > 1) break;  // above 64 bits
            value |= (byte & 0x7f) << (7 * i);
            if (byte < 0x80) return value;
        }
        fail();
        return 0;
    }
    /// A length, and as many bytes.
    ByteView block() {
        const auto size = varint();
        if (size > in_.size()) {
            fail();
            return {};
        }
        const auto taken = in_.first(size);
        in_ = in_.subspan(size);
        return taken;
    }
    std::string text() {
        const auto taken = block();
        return {reinterpret_cast<const char*>(taken.data()), taken.size()};
    }
    bool empty() const { return in_.empty(); }
    bool failed() const { return failed_; }

private:
    void fail() {
        failed_ = true;
        in_ = {};
    }

    ByteView in_;
    bool failed_ = false;
};

Bytes encode_link(const ReportedLink& link) {
    Bytes out;
    put_text(link.peer, out);
    for (const auto number : {static_cast<std::uint64_t>(link.state), link.hits, link.given,
                              link.false_hits, link.failures, link.lag_ms})
        put_varint(number, out);
    return out;
}

std::optional<ReportedLink> decode_link(ByteView bytes) {
    ReportReader in(bytes);
    ReportedLink link;
    link.peer = in.text();
    const auto state = in.varint();
    for (auto* number : {&link.hits, &link.given, &link.false_hits, &link.failures, &link.lag_ms})
        *number = in.varint();
    if (in.failed() || !protocol::is_node_name(link.peer)) return std::nullopt;
    // A later build may have more states; a peer of this one shows them as gone.
    const auto last = static_cast<std::uint64_t>(protocol::PeerState::refused);
    link.state =
        state <= last ? static_cast<protocol::PeerState>(state) : protocol::PeerState::gone;
    return link;
}

bool decode_links(ByteView bytes, NodeReport& report) {
    ReportReader in(bytes);
    report.links_left_out = in.varint();
    while (!in.empty() && report.links.size() < kMaxReportedLinks) {
        auto link = decode_link(in.block());
        if (!link) return false;
        report.links.push_back(std::move(*link));
    }
    return !in.failed();
}

/// Numbers that the report lacks stay 0; those of a later build are left out.
bool decode_numbers(ByteView bytes, NodeReport& report) {
    ReportReader in(bytes);
    for (const auto member : kReportedNumbers) {
        if (in.empty()) break;
        report.numbers.*member = in.varint();
        if (member == &ReportedNumbers::origins_failing) report.judges_origins = true;
    }
    return !in.failed();
}

/// Printable ASCII, so that a peer cannot write to a terminal.
bool is_plain_version(std::string_view text) {
    return text.size() <= kMaxVersionBytes &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

bool decode_section(std::uint64_t id, ByteView content, NodeReport& report) {
    switch (id) {
        case kVersionSection:
            report.version.assign(reinterpret_cast<const char*>(content.data()), content.size());
            return is_plain_version(report.version);
        case kNumbersSection:
            return decode_numbers(content, report);
        case kLinksSection:
            return decode_links(content, report);
        case protocol::kReportClockSection:
            report.clock_ms = protocol::WireReader(content).u64();
            return true;
        default:
            return true;  // of a later build
    }
}

void add_section(std::uint8_t id, const Bytes& content, Bytes& out) {
    put_varint(id, out);
    put_block(content, out);
}

bool is_quiet(const ReportedLink& link) {
    return link.state == protocol::PeerState::in_sync &&
           link.hits + link.given + link.false_hits + link.failures == 0;
}

/// Links of most use first. Of many links, those that show nothing are left out.
std::vector<const ReportedLink*> by_use(const std::vector<ReportedLink>& links) {
    std::vector<const ReportedLink*> all;
    for (const auto& link : links)
        if (links.size() <= kFewLinks || !is_quiet(link)) all.push_back(&link);
    std::stable_sort(all.begin(), all.end(), [](const auto* a, const auto* b) {
        return a->hits + a->given > b->hits + b->given;
    });
    return all;
}

}  // namespace

NodeReport report_of(const NodeStatus& status, std::uint64_t errors_5m) {
    NodeReport report;
    report.version = status.version;
    auto& numbers = report.numbers;
    numbers.ready = status.ready;
    numbers.draining = status.draining;
    numbers.uptime_seconds = static_cast<std::uint64_t>(status.uptime_seconds);
    const auto& requests = status.work.requests;
    numbers.local_hits = requests[Outcome::local_hit];
    numbers.peer_hits = requests[Outcome::peer_hit];
    numbers.origin_fetches = requests[Outcome::origin_fetch];
    numbers.uncacheable = requests[Outcome::uncacheable];
    numbers.errors = requests[Outcome::error];
    numbers.refused = requests[Outcome::refused];
    numbers.errors_5m = errors_5m;
    numbers.to_clients_bytes = status.work.bytes_to_clients;
    numbers.from_peers_bytes = status.work.bytes_from_peers;
    numbers.from_origins_bytes = status.work.bytes_from_origins;
    numbers.objects = status.cache.objects;
    numbers.memory_bytes = status.cache.memory_bytes;
    numbers.memory_cap_bytes = status.cache.memory_cap_bytes;
    numbers.disk_bytes = status.cache.disk_bytes;
    for (const auto& disk : status.disk) {
        numbers.disk_cap_bytes += disk.cap_bytes;
        const auto has_errors = had_error_lately(disk);
        numbers.disks_with_errors += has_errors;
        numbers.disks_faulty += has_errors || (disk.state != DiskStatus::State::loading &&
                                               disk.state != DiskStatus::State::ready);
    }
    std::uint64_t unanswered = 0;
    for (const auto& site : status.answers)
        unanswered += site.outage.state() == OriginEnd::unanswered;
    numbers.origins_down = std::max(status.work.origins_down, unanswered);
    for (const auto& origin : status.cluster.origins)
        numbers.origins_slow += origin.answer_seconds > kSlowAnswerSeconds;
    for (const auto& site : status.answers)
        numbers.origins_failing +=
            is_failing(site.recent) || site.outage.state() == OriginEnd::server_error;
    numbers.summary_fill_ppm = static_cast<std::uint64_t>(status.summary.fill_ratio * kMillion);
    numbers.expected_error_ppb =
        static_cast<std::uint64_t>(status.summary.expected_false_hit * kBillion);
    for (const auto& peer : status.cluster.peers)
        report.links.push_back({peer.node, peer.state, peer.hits, peer.served, peer.false_hits,
                                peer.failures,
                                static_cast<std::uint64_t>(peer.lag_seconds * 1000)});
    return report;
}

protocol::Bytes encode_report(const NodeReport& report) {
    Bytes out;
    out.push_back(std::byte{kReportVersion});
    Bytes section;
    const auto version = std::as_bytes(std::span(std::string_view(report.version)));
    section.assign(version.begin(), version.end());
    if (is_plain_version(report.version)) add_section(kVersionSection, section, out);
    section.clear();
    for (const auto member : kReportedNumbers) put_varint(report.numbers.*member, section);
    add_section(kNumbersSection, section, out);

    Bytes links;
    std::size_t put = 0;
    for (const auto* link : by_use(report.links)) {
        const auto row = encode_link(*link);
        if (out.size() + kHeadsBytes + links.size() + row.size() + 1 >
            protocol::kMaxReportBytes - protocol::kReportClockBytes)
            break;
        put_block(row, links);
        ++put;
    }
    section.clear();
    put_varint(report.links_left_out + report.links.size() - put, section);
    section.insert(section.end(), links.begin(), links.end());
    add_section(kLinksSection, section, out);
    return out;
}

std::optional<NodeReport> decode_report(ByteView bytes) {
    if (bytes.empty() || bytes.size() > protocol::kMaxReportBytes) return std::nullopt;
    if (bytes.front() != std::byte{kReportVersion}) return std::nullopt;
    ReportReader in(bytes.subspan(1));
    NodeReport report;
    report.judges_origins = false;
    while (!in.empty()) {
        const auto id = in.varint();
        if (!decode_section(id, in.block(), report)) return std::nullopt;
    }
    if (in.failed()) return std::nullopt;
    return report;
}

}  // namespace proxy
