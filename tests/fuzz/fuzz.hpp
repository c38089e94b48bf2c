#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

/// States a property. Unlike assert, it is always compiled.
#define FUZZ_CHECK(condition)                                                                   \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
            std::abort();                                                                       \
        }                                                                                       \
    } while (false)

/// Each function takes any bytes and checks the properties of one reader. Accepted input is read
/// back as it was written. Pieces give the same result as the whole. Views lie inside the input.
/// libFuzzer runs them (main.cpp), and so do ordinary tests on the seeds of corpus/
/// (seeds_test.cpp).
int fuzz_request_head(const std::uint8_t* data, std::size_t size);
int fuzz_http2_head(const std::uint8_t* data, std::size_t size);
int fuzz_response_head(const std::uint8_t* data, std::size_t size);
int fuzz_chunked_body(const std::uint8_t* data, std::size_t size);
int fuzz_cache_control(const std::uint8_t* data, std::size_t size);
int fuzz_http_date(const std::uint8_t* data, std::size_t size);
int fuzz_structured_field(const std::uint8_t* data, std::size_t size);
int fuzz_range(const std::uint8_t* data, std::size_t size);
int fuzz_vary(const std::uint8_t* data, std::size_t size);
int fuzz_traceparent(const std::uint8_t* data, std::size_t size);
int fuzz_cache_key(const std::uint8_t* data, std::size_t size);
int fuzz_config(const std::uint8_t* data, std::size_t size);
int fuzz_trace_line(const std::uint8_t* data, std::size_t size);
int fuzz_access_line(const std::uint8_t* data, std::size_t size);
int fuzz_frame(const std::uint8_t* data, std::size_t size);
int fuzz_report(const std::uint8_t* data, std::size_t size);
int fuzz_summary(const std::uint8_t* data, std::size_t size);
int fuzz_server_name(const std::uint8_t* data, std::size_t size);
int fuzz_proxy_header(const std::uint8_t* data, std::size_t size);
int fuzz_forwarded(const std::uint8_t* data, std::size_t size);
int fuzz_disk(const std::uint8_t* data, std::size_t size);
int fuzz_users_file(const std::uint8_t* data, std::size_t size);
int fuzz_basic_credentials(const std::uint8_t* data, std::size_t size);
int fuzz_links(const std::uint8_t* data, std::size_t size);
int fuzz_history(const std::uint8_t* data, std::size_t size);

struct FuzzTarget {
    std::string_view name;  // also that of its folder in corpus/
    int (*run)(const std::uint8_t*, std::size_t);
};
inline constexpr FuzzTarget kFuzzTargets[] = {
    {"request_head", fuzz_request_head},
    {"http2_head", fuzz_http2_head},
    {"response_head", fuzz_response_head},
    {"chunked_body", fuzz_chunked_body},
    {"cache_control", fuzz_cache_control},
    {"http_date", fuzz_http_date},
    {"structured_field", fuzz_structured_field},
    {"range", fuzz_range},
    {"vary", fuzz_vary},
    {"traceparent", fuzz_traceparent},
    {"cache_key", fuzz_cache_key},
    {"config", fuzz_config},
    {"trace_line", fuzz_trace_line},
    {"access_line", fuzz_access_line},
    {"frame", fuzz_frame},
    {"report", fuzz_report},
    {"summary", fuzz_summary},
    {"server_name", fuzz_server_name},
    {"proxy_header", fuzz_proxy_header},
    {"forwarded", fuzz_forwarded},
    {"disk", fuzz_disk},
    {"users_file", fuzz_users_file},
    {"basic_credentials", fuzz_basic_credentials},
    {"links", fuzz_links},
    {"history", fuzz_history},
};

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// Is this view empty, or within the text?
inline bool inside(std::string_view view, std::string_view text) {
    if (view.empty()) return true;
    const auto begin = reinterpret_cast<std::uintptr_t>(text.data());
    const auto at = reinterpret_cast<std::uintptr_t>(view.data());
    return at >= begin && at + view.size() <= begin + text.size();
}

/// Cuts the text up to `separator`, or all of it, off `rest`.
inline std::string_view cut(std::string_view& rest, char separator) {
    const auto end = rest.find(separator);
    const auto part = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return part;
}
