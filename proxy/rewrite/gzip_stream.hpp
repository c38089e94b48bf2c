#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace proxy {

/// Undoes the content coding gzip (RFC 9110 §8.4.1.3, RFC 1952) step by step. Several members in a
/// row are one body. Bytes behind the last member are dropped, as clients do. One thread. Memory:
/// about 40 KiB.
class GzipDecoder {
public:
    GzipDecoder();
    ~GzipDecoder();
    GzipDecoder(const GzipDecoder&) = delete;
    GzipDecoder& operator=(const GzipDecoder&) = delete;

    /// Takes bytes off `in` and appends at most `most` bytes to `out`. False: they are no gzip, or
    /// memory is short. Once it appends nothing, `in` is empty and all is decoded.
    bool decode(std::string_view& in, std::size_t most, std::string& out);
    /// The last member has ended.
    bool ended() const { return ended_; }

private:
    struct State;
    std::unique_ptr<State> state_;  // null: memory was short
    bool ended_ = false, trailing_ = false;
    bool is_full_ = false;  // there may be more without further input
};

/// Applies the coding. One thread. Memory: about 270 KiB.
class GzipEncoder {
public:
    GzipEncoder();
    ~GzipEncoder();
    GzipEncoder(const GzipEncoder&) = delete;
    GzipEncoder& operator=(const GzipEncoder&) = delete;

    /// Appends what `in` becomes to `out`, as far as it is decided; with `last` to the end. False:
    /// memory is short.
    bool encode(std::string_view in, bool last, std::string& out);

private:
    struct State;
    std::unique_ptr<State> state_;  // null: memory was short
};

}  // namespace proxy
