#include "proxy/request/error_response.hpp"

#include <gtest/gtest.h>

#include <string>

namespace proxy {
namespace error_response_test {

TEST(ErrorResponse, HasAStatusAndASentenceForEveryError) {
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
    EXPECT_EQ(explain(FetchError::own_listener, "h.test:3128"),
              "Requests to h.test:3128 are not forwarded: this proxy or a peer listens there.");
}

TEST(ErrorResponse, SaysOfAForwardProxyThatIsOpenedDirectlyHowItIsUsed) {
    EXPECT_EQ(status_of(SiteRefusal::only_forward), 404u);
    const auto text = explain(SiteRefusal::only_forward, "10.0.0.1:3128");
    EXPECT_NE(text.find("is a forward proxy"), std::string::npos) << text;
    EXPECT_NE(text.find("curl -x"), std::string::npos) << text;
    EXPECT_NE(text.find("10.0.0.1:3128"), std::string::npos) << text;
}

TEST(ErrorResponse, SaysHowARegistryIsAdded) {
    EXPECT_EQ(status_of(SiteRefusal::unknown_registry), 404u);
    const auto text = explain(SiteRefusal::unknown_registry, "m.test");
    EXPECT_NE(text.find("`ns`"), std::string::npos) << text;
    EXPECT_NE(text.find("`public`"), std::string::npos) << text;
}

}  // namespace error_response_test
}  // namespace proxy
