#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

/// Golomb-Rice codes of ascending positions, by their gaps; summary/FORMAT.md has the bytes. For
/// the random positions of a filter the codes are within 2 % of the entropy. Sources: Golomb 1966;
/// Rice 1979; the choice of the parameter: Kiely 2004.
namespace summary {

inline constexpr unsigned kMaxRiceParameter = 32;

/// The best number of low bits for `count` random positions below `universe`.
unsigned rice_parameter(std::uint64_t count, std::uint64_t universe);

/// Appends a number with 7 bits in each byte, the low ones first.
void append_varint(std::uint64_t value, std::vector<std::byte>& out);

/// Takes one varint off the front of `bytes`. It has at most 5 bytes, as counts and positions are
/// at most kMaxBits.
std::optional<std::uint64_t> take_varint(std::span<const std::byte>& bytes);

/// Appends codes to `out`; finish() pads the last byte with zeros.
class RiceWriter {
public:
    RiceWriter(unsigned parameter, std::vector<std::byte>& out)
        : parameter_(parameter), out_(out) {}

    /// Positions must ascend strictly.
    void append(std::uint64_t position) {
        const auto gap = position - next_;
        next_ = position + 1;
        auto zeros = gap >> parameter_;
        for (; zeros >= kFlushBits; zeros -= kFlushBits) append_bits(0, kFlushBits);
        append_bits(std::uint64_t{1} << zeros, static_cast<unsigned>(zeros) + 1);
        append_bits(gap & ((std::uint64_t{1} << parameter_) - 1), parameter_);
    }

    void finish() {
        for (; used_ > 0; used_ -= used_ < 8 ? used_ : 8, buffer_ >>= 8) {
            out_.push_back(static_cast<std::byte>(buffer_ & 0xff));
        }
    }

private:
    static constexpr unsigned kFlushBits = 32;
    static_assert(kMaxRiceParameter <= kFlushBits);

    /// `size` <= kFlushBits and `bits` < 2^size.
    void append_bits(std::uint64_t bits, unsigned size) {
        buffer_ |= bits << used_;
        used_ += size;
        if (used_ < kFlushBits) return;
        const auto full = static_cast<std::uint32_t>(buffer_);
        const auto at = out_.size();
        out_.resize(at + sizeof(full));
        std::memcpy(out_.data() + at, &full, sizeof(full));
        buffer_ >>= kFlushBits;
        used_ -= kFlushBits;
    }

    unsigned parameter_;
    std::vector<std::byte>& out_;
    std::uint64_t next_ = 0;  // the lowest possible next position
    std::uint64_t buffer_ = 0;
    unsigned used_ = 0;  // bits in buffer_, below kFlushBits between calls
};

/// Reads codes of positions below `universe` from unchecked bytes.
class RiceReader {
public:
    RiceReader(unsigned parameter, std::uint64_t universe, std::span<const std::byte> bytes)
        : parameter_(parameter),
          low_bits_((std::uint64_t{1} << parameter) - 1),
          universe_(universe),
          bytes_(bytes),
          end_(bytes.size() * 8) {}

    /// Returns the next position, or nullopt when the bytes end before it or the position is out of
    /// range.
    std::optional<std::uint64_t> next() {
        auto window = peek();
        std::uint64_t skipped = 0;
        while (window == 0) {
            skipped += kPeekBits;
            at_ += kPeekBits;
            if (skipped > universe_ >> parameter_ || at_ >= end_) return std::nullopt;
            window = peek();
        }
        const auto zeros = static_cast<unsigned>(std::countr_zero(window));
        at_ += zeros + 1;
        if (zeros + 1 + parameter_ <= kPeekBits) {
            window >>= zeros + 1;
        } else {
            window = peek();
        }
        at_ += parameter_;
        const auto quotient = skipped + zeros;
        if (quotient > universe_ >> parameter_ || at_ > end_) return std::nullopt;
        const auto position = next_ + ((quotient << parameter_) | (window & low_bits_));
        if (position >= universe_) return std::nullopt;
        next_ = position + 1;
        return position;
    }

    /// The bytes behind the last code, from the next whole byte. Returns nullopt when the padding
    /// has ones.
    std::optional<std::span<const std::byte>> rest() const {
        const auto padding = (8 - at_ % 8) % 8;
        if ((peek() & ((std::uint64_t{1} << padding) - 1)) != 0) return std::nullopt;
        return bytes_.subspan((at_ + 7) / 8);
    }

private:
    static constexpr unsigned kPeekBits =
        57;  // bits that eight bytes contain from any bit of the first
    static_assert(kMaxRiceParameter <= kPeekBits);

    /// The next kPeekBits bits; zeros behind the end.
    std::uint64_t peek() const {
        const auto byte = at_ / 8;
        std::uint64_t word = 0;
        if (byte + sizeof(word) <= bytes_.size()) {
            std::memcpy(&word, bytes_.data() + byte, sizeof(word));
        } else if (byte < bytes_.size()) {
            std::memcpy(&word, bytes_.data() + byte, bytes_.size() - byte);
        }
        return word >> (at_ % 8) & ((std::uint64_t{1} << kPeekBits) - 1);
    }

    unsigned parameter_;
    std::uint64_t low_bits_;
    std::uint64_t universe_;
    std::span<const std::byte> bytes_;
    std::uint64_t end_;  // in bits
    std::uint64_t at_ = 0;
    std::uint64_t next_ = 0;  // the lowest possible next position
};

/// Reads codes piece by piece; the stream reads each piece once, and keeps no reference to it.
class RiceStream {
public:
    enum class Step { position, more, malformed };

    RiceStream() = default;
    RiceStream(unsigned parameter, std::uint64_t universe)
        : parameter_(parameter), universe_(universe) {}

    /// Returns `position` with a position, or `more` when `bytes` is empty and the code is
    /// incomplete.
    Step next(std::span<const std::byte>& bytes, std::uint64_t& position) {
        for (;;) {
            refill(bytes);
            if (in_zeros_) {
                if (buffer_ == 0) {
                    zeros_ += buffered_bits_;
                    buffered_bits_ = 0;
                    if (zeros_ > universe_ >> parameter_) return Step::malformed;
                    if (bytes.empty()) return Step::more;
                    continue;
                }
                const auto zeros = static_cast<unsigned>(std::countr_zero(buffer_));
                zeros_ += zeros;
                if (zeros_ > universe_ >> parameter_) return Step::malformed;
                drop(zeros + 1);
                in_zeros_ = false;
                refill(bytes);
            }
            if (buffered_bits_ < parameter_) return Step::more;
            const auto low = buffer_ & ((std::uint64_t{1} << parameter_) - 1);
            position = next_ + ((zeros_ << parameter_) | low);
            drop(parameter_);
            if (position >= universe_) return Step::malformed;
            next_ = position + 1;
            zeros_ = 0;
            in_zeros_ = true;
            return Step::position;
        }
    }

    /// Call it after the last code: true when only the padding of its byte is left.
    bool at_end() const { return buffered_bits_ < 8 && buffer_ == 0; }

private:
    void refill(std::span<const std::byte>& bytes) {
        const auto size = std::min<std::size_t>((64 - buffered_bits_) / 8, bytes.size());
        if (size == 0) return;
        std::uint64_t word = 0;
        if (bytes.size() >= sizeof(word)) {
            std::memcpy(&word, bytes.data(), sizeof(word));
            if (size < sizeof(word)) word &= (std::uint64_t{1} << (8 * size)) - 1;
        } else {
            std::memcpy(&word, bytes.data(), size);
        }
        buffer_ |= word << buffered_bits_;
        buffered_bits_ += static_cast<unsigned>(8 * size);
        bytes = bytes.subspan(size);
    }
    /// Drops at most 63 bits, or all buffered bits.
    void drop(unsigned bits) {
        buffer_ = bits < 64 ? buffer_ >> bits : 0;
        buffered_bits_ -= bits;
    }

    unsigned parameter_ = 0;
    std::uint64_t universe_ = 0;
    std::uint64_t buffer_ = 0;  // low bits first; zeros above buffered_bits_
    unsigned buffered_bits_ = 0;
    bool in_zeros_ = true;
    std::uint64_t zeros_ = 0;
    std::uint64_t next_ = 0;  // the lowest possible next position
};

}  // namespace summary
