#include "proxy/request/response_in_parts.hpp"

#include <utility>

#include "proxy/http/response_head.hpp"
#include "proxy/request/body_sender.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using boost::beast::http::field;

/// A boundary that no body contains, as nobody outside of this node can foresee it.
std::string new_boundary(const summary::KeyHasher& secret, std::string_view uri) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    const auto hash = secret(std::to_string(now).append(" parts of ").append(uri));
    std::string boundary;
    for (auto bits : {hash.low, hash.high})
        for (int i = 0; i < 16; ++i, bits >>= 4) boundary.push_back(kDigits[bits & 15]);
    return boundary;
}

}  // namespace

PartsResponse::PartsResponse(Transaction& transaction, const StoredMetadata& response,
                             std::vector<ByteRange> parts, std::uint64_t length)
    : transaction_(transaction),
      parts_(std::move(parts)),
      length_(length),
      boundary_(new_boundary(transaction.service.cache.shared.key_hasher,
                             transaction.request.key.uri())) {
    for (const auto& line : response.fields())
        append_line(line.id == field::content_type ? type_ : fields_, line);
}

std::string PartsResponse::head_of(std::size_t part) const {
    std::string text = "\r\n--" + boundary_ + "\r\n" + type_ + "Content-Range: ";
    append_content_range(text, {parts_[part], length_});
    return text.append("\r\n\r\n");
}

std::string PartsResponse::close_delimiter() const {
    return "\r\n--" + boundary_ + "--\r\n";
}

void PartsResponse::begin(const LiveFields* live, std::optional<std::chrono::seconds> age,
                          const CacheStatus& status) {
    auto bytes = static_cast<std::uint64_t>(close_delimiter().size());
    for (std::size_t i = 0; i < parts_.size(); ++i) bytes += head_of(i).size() + parts_[i].size();
    transaction_.writer.fields()
        .append("Content-Type: multipart/byteranges; boundary=")
        .append(boundary_)
        .append("\r\n");
    transaction_.begin(transaction_.head(206, fields_, bytes), live, age, status);
}

asio::awaitable<bool> PartsResponse::begin_part(std::size_t part) {
    text_ = head_of(part);
    return write(false);
}

asio::awaitable<bool> PartsResponse::end() {
    text_ = close_delimiter();
    return write(true);
}

asio::awaitable<bool> PartsResponse::write(bool is_end) {
    BodyPiece piece;
    piece.bytes = text_.size();
    piece.end = is_end;
    transaction_.writer.next_piece().emplace_back(text_.data(), text_.size());
    const auto sent = co_await transaction_.writer.write(piece);
    if (!sent) transaction_.stats.aborted = true;
    co_return sent;
}

asio::awaitable<void> respond_in_parts(Transaction& transaction, const StoredResponse& response,
                                       std::vector<ByteRange> parts, Source stored_in,
                                       std::optional<std::chrono::seconds> age,
                                       const LiveFields* live, const CacheStatus& status) {
    PartsResponse answer(transaction, response, std::move(parts), response.body_bytes());
    answer.begin(live, age, status);
    auto& windows = transaction.service.cache.shared.windows;
    for (std::size_t i = 0; i < answer.parts().size(); ++i) {
        const auto begun = co_await answer.begin_part(i);
        if (!begun) co_return;
        const auto& part = answer.parts()[i];
        BodyReader body(response, transaction.wakeup, windows);
        body.consume(part.first);
        BodySender::What what;
        what.stored_in = stored_in;
        what.bytes = part.size();
        BodySender sender(transaction, std::move(body), what);
        const auto sent = co_await sender.run();
        if (!sent) co_return;
    }
    co_await answer.end();
}

}  // namespace proxy
