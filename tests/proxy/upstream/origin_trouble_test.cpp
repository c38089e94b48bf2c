#include "proxy/upstream/origin_trouble.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace proxy {
namespace origin_trouble_test {

TEST(OriginTrouble, IsUnreachableOnlyWhereNoAnswerCouldBeHad) {
    for (const auto error :
         {FetchError::resolve_failed, FetchError::connect_failed, FetchError::connect_timeout,
          FetchError::tls_failed, FetchError::head_timeout, FetchError::body_timeout,
          FetchError::reset, FetchError::resolve_timeout}) {
        EXPECT_EQ(trouble_of(error), OriginTrouble::unreachable) << to_string(error);
        EXPECT_TRUE(went_forward(error)) << to_string(error);
    }
    for (const auto error : {FetchError::busy, FetchError::no_descriptors, FetchError::stopping}) {
        EXPECT_EQ(trouble_of(error), OriginTrouble::error) << to_string(error);
        EXPECT_FALSE(went_forward(error)) << to_string(error);
    }
    EXPECT_EQ(trouble_of(FetchError::origin_down), OriginTrouble::unreachable);
    EXPECT_FALSE(went_forward(FetchError::origin_down)) << "it was spared the request";
    for (const auto error : {FetchError::not_allowed, FetchError::own_listener}) {
        EXPECT_EQ(trouble_of(error), std::nullopt) << to_string(error);
        EXPECT_FALSE(went_forward(error)) << to_string(error);
    }
    EXPECT_EQ(trouble_of(FetchError::malformed), OriginTrouble::error);
    EXPECT_EQ(trouble_of(FetchError::origin_error), OriginTrouble::error);
    EXPECT_TRUE(went_forward(FetchError::malformed));
}

TEST(OriginTrouble, MayPassUnlessARuleOrAnotherVersionOrACertificateStandsAgainstIt) {
    for (const auto error :
         {FetchError::resolve_failed, FetchError::connect_failed, FetchError::reset,
          FetchError::head_timeout, FetchError::malformed, FetchError::busy,
          FetchError::no_descriptors, FetchError::origin_down, FetchError::origin_error})
        EXPECT_TRUE(may_pass(error)) << to_string(error);
    for (const auto error : {FetchError::tls_failed, FetchError::not_allowed, FetchError::changed,
                             FetchError::not_in_parts, FetchError::abandoned, FetchError::stopping})
        EXPECT_FALSE(may_pass(error)) << to_string(error);
}

TEST(OriginTrouble, SaysOfTheOriginsHealthWhatItTells) {
    using End = OriginHealth::End;
    EXPECT_EQ(consequences_of(FetchError::none).end, End::answered);
    EXPECT_EQ(consequences_of(FetchError::connect_timeout).end, End::not_connected);
    EXPECT_EQ(consequences_of(FetchError::head_timeout).end, End::not_answered);
    for (const auto error : {FetchError::connect_failed, FetchError::reset, FetchError::tls_failed})
        EXPECT_EQ(consequences_of(error).end, End::answered) << "there is somebody";
    for (const auto error : {FetchError::resolve_failed, FetchError::busy, FetchError::abandoned,
                             FetchError::own_listener, FetchError::origin_down})
        EXPECT_EQ(consequences_of(error).end, End::unknown) << to_string(error);
}

}  // namespace origin_trouble_test
}  // namespace proxy
