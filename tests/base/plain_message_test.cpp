#include "base/text/plain_message.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/system_error.hpp>
#include <stdexcept>

namespace base {
namespace plain_message_test {

TEST(PlainMessage, NamesNoPlaceInTheSource) {
    using boost::asio::ip::tcp;
    boost::asio::io_context context;
    try {
        const tcp::acceptor acceptor(context,
                                     tcp::endpoint(boost::asio::ip::make_address("192.0.2.1"), 0));
        FAIL() << "this machine has an address that is for documentation";
    } catch (const std::exception& error) {
        EXPECT_EQ(plain_message(error), "bind: Cannot assign requested address");
    }
    BOOST_STATIC_CONSTEXPR boost::source_location here = BOOST_CURRENT_LOCATION;
    const boost::system::error_code code(2, boost::system::system_category(), &here);
    EXPECT_EQ(plain_message(boost::system::system_error(code, "log /x")),
              "log /x: No such file or directory");
}

TEST(PlainMessage, LeavesOtherWordsAlone) {
    EXPECT_EQ(plain_message(std::runtime_error("no [system:2] here")), "no [system:2] here");
}

}  // namespace plain_message_test
}  // namespace base
