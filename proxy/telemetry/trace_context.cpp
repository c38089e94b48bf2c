#include "proxy/telemetry/trace_context.hpp"

#include <cmath>
#include <cstring>
#include <random>
#include <span>

#include "base/tls/crypto.hpp"
#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

constexpr std::size_t kTraceAt = 3, kSpanAt = 36, kFlagsAt = 53;
constexpr std::uint8_t kSampledFlag = 1;
constexpr std::string_view kNoVersion = "ff";

/// The value of a lower-case hexadecimal digit; 16 for any other character.
constexpr unsigned digit_value(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
    return 16;
}

/// Reads two digits for each byte of `out`. False for any other character.
bool read_digits(std::string_view digits, std::span<std::uint8_t> out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
        const auto high = digit_value(digits[2 * i]), low = digit_value(digits[2 * i + 1]);
        if (high > 15 || low > 15) return false;
        out[i] = static_cast<std::uint8_t>(high << 4 | low);
    }
    return true;
}

void append_digits(std::string& out, std::span<const std::uint8_t> bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    for (const auto byte : bytes) {
        out.push_back(kDigits[byte >> 4]);
        out.push_back(kDigits[byte & 15]);
    }
}

std::mt19937_64 seeded_generator() {
    std::array<std::uint32_t, 8> seed{};
    base::random_bytes(std::as_writable_bytes(std::span(seed)));
    std::seed_seq sequence(seed.begin(), seed.end());
    return std::mt19937_64(sequence);
}

std::uint64_t random_word() {
    static thread_local auto generator = seeded_generator();
    return generator();
}

template <class Id>
Id fresh_id() {
    Id id{};
    while (id == Id{}) {
        for (std::size_t at = 0; at < id.size(); at += sizeof(std::uint64_t)) {
            const auto word = random_word();
            std::memcpy(id.data() + at, &word, sizeof word);
        }
    }
    return id;
}

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view value) {
    if (value.size() < kTraceparentBytes) return std::nullopt;
    std::array<std::uint8_t, 1> version{}, flags{};
    TraceContext context;
    const auto read = value[kTraceAt - 1] == '-' && value[kSpanAt - 1] == '-' &&
                      value[kFlagsAt - 1] == '-' && read_digits(value, version) &&
                      read_digits(value.substr(kTraceAt), context.trace) &&
                      read_digits(value.substr(kSpanAt), context.span) &&
                      read_digits(value.substr(kFlagsAt), flags);
    if (!read || value.starts_with(kNoVersion) || !context.valid()) return std::nullopt;
    const auto has_more = value.size() > kTraceparentBytes;
    if (has_more && (version[0] == 0 || value[kTraceparentBytes] != '-')) return std::nullopt;
    context.sampled = (flags[0] & kSampledFlag) != 0;
    return context;
}

std::optional<TraceContext> received_trace(Fields request) {
    const Field* found = nullptr;
    for (const auto& line : request) {
        if (line.name.size() != kTraceparent.size() || !iequals(line.name, kTraceparent)) continue;
        if (found) return std::nullopt;
        found = &line;
    }
    return found ? parse_traceparent(found->value) : std::nullopt;
}

void append_traceparent(std::string& out, const TraceContext& context) {
    out.append("00-");
    append_digits(out, context.trace);
    out.push_back('-');
    append_digits(out, context.span);
    out.append(context.sampled ? "-01" : "-00");
}

void append_id(std::string& out, const TraceId& id) {
    append_digits(out, id);
}

void append_id(std::string& out, const SpanId& id) {
    append_digits(out, id);
}

TraceId fresh_trace_id() {
    return fresh_id<TraceId>();
}

SpanId fresh_span_id() {
    return fresh_id<SpanId>();
}

bool in_sample(const TraceId& id, double ratio) {
    constexpr std::size_t kRandomBytes = 7;
    constexpr double kAll = 72057594037927936.0;  // 2^56
    std::uint64_t random = 0;
    for (std::size_t i = id.size() - kRandomBytes; i < id.size(); ++i) random = random << 8 | id[i];
    const auto left_out = std::ceil((1 - ratio) * kAll);
    return static_cast<double>(random) >= left_out;
}

}  // namespace proxy
