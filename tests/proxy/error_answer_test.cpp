#include "proxy/client/error_answer.hpp"

#include <gtest/gtest.h>

#include <string>

namespace proxy {
namespace error_answer_test {

TEST(ErrorAnswer, HasAStatusAndASentenceForEveryError) {
    for (const auto error :
         {FetchError::resolve_failed, FetchError::connect_failed, FetchError::tls_failed,
          FetchError::reset, FetchError::malformed, FetchError::origin_error})
        EXPECT_EQ(status_of(error), 502u);
    for (const auto error :
         {FetchError::connect_timeout, FetchError::head_timeout, FetchError::body_timeout,
          FetchError::resolve_timeout, FetchError::origin_down})
        EXPECT_EQ(status_of(error), 504u);
    for (const auto error : {FetchError::abandoned, FetchError::stopping})
        EXPECT_EQ(status_of(error), 503u);
    EXPECT_EQ(status_of(FetchError::not_allowed), 403u);
    EXPECT_EQ(status_of(FetchError::own_listener), 403u);
    EXPECT_NE(explain(FetchError::connect_failed, "h.test").find("h.test"), std::string::npos);
}

}  // namespace error_answer_test
}  // namespace proxy
