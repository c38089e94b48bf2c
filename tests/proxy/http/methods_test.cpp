#include "proxy/http/methods.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace methods_test {

TEST(Methods, AreSafeAsTheRegistrySays) {  // RFC 9110 §9.2.1
    for (const auto* method :
         {"GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY", "PRI"})
        EXPECT_TRUE(is_safe_method(method)) << method;
    for (const auto* method : {"POST", "PUT", "DELETE", "PATCH", "PROPPATCH", "MKCOL", "MOVE",
                               "LOCK", "CONNECT", "ACL", "get", "GETS", "", "UNHEARD-OF"})
        EXPECT_FALSE(is_safe_method(method)) << method;
}

TEST(Methods, AreRepeatableIfSafeOrPutOrDelete) {  // RFC 9110 §9.2.2
    for (const auto* method : {"GET", "PROPFIND", "QUERY", "PUT", "DELETE"})
        EXPECT_TRUE(is_repeatable_method(method)) << method;
    for (const auto* method : {"POST", "PATCH", "LOCK", "MKCOL", "MOVE", "put", "UNHEARD-OF"})
        EXPECT_FALSE(is_repeatable_method(method)) << method;
}

}  // namespace methods_test
}  // namespace proxy
