#include "proxy/request/response_writer.hpp"

namespace proxy {

boost::asio::awaitable<bool> ResponseWriter::write(BodyPiece piece) {
    if (write_now(piece) == Progress::all) co_return true;
    const auto written = co_await write_rest(nullptr);
    co_return written;
}

}  // namespace proxy
