#include "proxy/rewrite/gzip_stream.hpp"

#include <zlib.h>

#include <algorithm>

namespace proxy {
namespace {

constexpr int kGzipWindow = 15 + 16;  // 32 KiB, with the frame of gzip
constexpr int kLevel = 4;
constexpr int kMemoryLevel = 8;
constexpr char kFirstOfMember = '\x1f';

const Bytef* bytes_of(std::string_view text) {
    return reinterpret_cast<const Bytef*>(text.data());
}

}  // namespace

struct GzipDecoder::State {
    z_stream stream{};
};

GzipDecoder::GzipDecoder() : state_(std::make_unique<State>()) {
    if (inflateInit2(&state_->stream, kGzipWindow) != Z_OK) state_.reset();
}

GzipDecoder::~GzipDecoder() {
    if (state_) inflateEnd(&state_->stream);
}

bool GzipDecoder::decode(std::string_view& in, std::size_t most, std::string& out) {
    if (!state_) return false;
    auto& stream = state_->stream;
    const auto before = out.size();
    while ((!in.empty() || is_full_) && out.size() - before < most) {
        if (trailing_ || (ended_ && !in.starts_with(kFirstOfMember))) {
            trailing_ = true;
            is_full_ = false;
            in = {};
            break;
        }
        if (ended_) {
            if (inflateReset(&stream) != Z_OK) return false;
            ended_ = false;
        }
        const auto at = out.size();
        out.resize(before + most);
        const auto given = std::min<std::size_t>(in.size(), 1u << 30);
        stream.next_in = const_cast<Bytef*>(bytes_of(in));
        stream.avail_in = static_cast<uInt>(given);
        stream.next_out = reinterpret_cast<Bytef*>(out.data() + at);
        stream.avail_out = static_cast<uInt>(out.size() - at);
        const auto result = inflate(&stream, Z_NO_FLUSH);
        is_full_ = stream.avail_out == 0 && result == Z_OK;
        out.erase(out.size() - stream.avail_out);  // gcc takes resize() for a growth
        in.remove_prefix(given - stream.avail_in);
        if (result == Z_STREAM_END)
            ended_ = true;
        else if (result != Z_OK && result != Z_BUF_ERROR)
            return false;
    }
    return true;
}

struct GzipEncoder::State {
    z_stream stream{};
};

GzipEncoder::GzipEncoder() : state_(std::make_unique<State>()) {
    if (deflateInit2(&state_->stream, kLevel, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        state_.reset();
}

GzipEncoder::~GzipEncoder() {
    if (state_) deflateEnd(&state_->stream);
}

bool GzipEncoder::encode(std::string_view in, bool last, std::string& out) {
    if (!state_) return false;
    constexpr std::size_t kStep = 16 * 1024;
    auto& stream = state_->stream;
    stream.next_in = const_cast<Bytef*>(bytes_of(in));
    stream.avail_in = static_cast<uInt>(in.size());
    for (;;) {
        const auto at = out.size();
        out.resize(at + kStep);
        stream.next_out = reinterpret_cast<Bytef*>(out.data() + at);
        stream.avail_out = static_cast<uInt>(kStep);
        const auto result = deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
        out.erase(out.size() - stream.avail_out);  // gcc takes resize() for a growth
        if (result == Z_STREAM_END) return true;
        if (result != Z_OK && result != Z_BUF_ERROR) return false;
        if (!last && stream.avail_in == 0 && stream.avail_out > 0) return true;
    }
}

}  // namespace proxy
