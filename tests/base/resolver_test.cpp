#include "base/net/resolver.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "base/async/task_group.hpp"
#include "tests/base/coroutine.hpp"
#include "tests/base/dns_server.hpp"

namespace base::test {
namespace resolver_test {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using Endpoints = Resolver::Endpoints;
using Reply = DnsServer::Reply;

const auto kPast = Clock::time_point{};
const auto kFarAway = Clock::time_point::max();

/// Names that begin with "no" do not exist, with "silent" are not answered.
Reply usual(const std::string& name) {
    Reply reply;
    if (name.starts_with("no")) reply.code = Reply::Code::no_such_name;
    if (name.starts_with("silent")) reply.silent = true;
    reply.addresses = {"127.0.0.7"};
    return reply;
}

class ResolverTest : public ::testing::Test {
protected:
    ResolverTest() { begin({}); }

    void begin(Resolver::Options options) {
        options.dns.servers = dns.place();
        options.dns.search = false;
        options.dns.patience = patience;
        options.now = [this] { return now; };
        resolver = std::make_unique<Resolver>(io.get_executor(), std::move(options));
    }
    base::Result<Endpoints> resolve(const std::string& host, std::uint16_t port = 3129,
                                    Clock::time_point deadline = kFarAway) {
        Pending<base::Result<Endpoints>> answer;
        start(io, resolver->resolve({host, port}, deadline), answer);
        wait_for(answer);
        return *answer.value;
    }
    void ask(const std::string& host, Pending<base::Result<Endpoints>>& answer,
             const std::string& client = {}) {
        start(io, resolver->resolve({host, 1}, kFarAway, client), answer);
    }
    void wait_for(const Pending<base::Result<Endpoints>>& answer) {
        while (!answer.value) io.run_one();
    }
    static std::string text(const base::Result<Endpoints>& result) {
        if (!result) return result.error().message();
        return result->front().address().to_string() + ' ' + std::to_string(result->front().port());
    }

    asio::io_context io;
    DnsServer dns{io, usual};
    std::chrono::milliseconds patience{5000};
    Clock::time_point now = Clock::now();
    std::unique_ptr<Resolver> resolver;
};

TEST_F(ResolverTest, AnOddSpellingOfAnAddressIsNoName) {
    for (const auto* host : {"127.0.0.010", "127.0.0.009", "127.00.0.9", "127.1", "2130706433",
                             "0177.0.0.9.", "::127.0.0.09"})
        EXPECT_FALSE(resolve(host)) << host;
    EXPECT_TRUE(resolve("127.0.0.9"));
    EXPECT_TRUE(resolve("9.example"));
}

TEST_F(ResolverTest, LiteralAddressesAnswerAtOnceAndAskNobody) {
    EXPECT_EQ(text(resolve("127.0.0.1", 80, kPast)), "127.0.0.1 80");
    EXPECT_EQ(text(resolve("::1", 65535, kPast)), "::1 65535");
    EXPECT_EQ(text(resolve("127.0.0.1", 0, kPast)), "127.0.0.1 0");
    EXPECT_TRUE(dns.asked.empty());
}

TEST_F(ResolverTest, NamesAreLookedUp) {
    EXPECT_EQ(text(resolve("yes.test")), "127.0.0.7 3129");
    EXPECT_EQ(resolve("no.test").error(), base::Error::resolve_failed);
}

TEST_F(ResolverTest, BothFamiliesAreAskedFor) {
    dns.script = [](const std::string&) {
        Reply reply;
        reply.addresses = {"127.0.0.7", "::1"};
        return reply;
    };
    const auto both = resolve("yes.test");
    ASSERT_TRUE(both);
    EXPECT_EQ(both->size(), 2U);
}

TEST_F(ResolverTest, AnAnswerTooLongForOnePacketComesByTcp) {  // RFC 7766 §5
    dns.script = [](const std::string&) {
        Reply reply;
        for (int i = 1; i <= 10; ++i) reply.addresses.push_back("127.0.0." + std::to_string(i));
        reply.truncated = true;
        return reply;
    };
    const auto all = resolve("yes.test");
    ASSERT_TRUE(all);
    EXPECT_EQ(all->size(), 10U);
    EXPECT_GT(dns.by_tcp, 0U);
}

Reply many(int addresses) {
    Reply reply;
    for (int i = 1; i <= addresses; ++i) reply.addresses.push_back("127.0.1." + std::to_string(i));
    return reply;
}

TEST_F(ResolverTest, AnAnswerOfManyAddressesFitsIntoOnePacket) {  // RFC 6891 §6.2.3
    dns.script = [](const std::string&) { return many(70); };
    ASSERT_TRUE(resolve("yes.test"));
    EXPECT_EQ(dns.by_tcp, 0U);
}

/// Asks without a resolver in between.
NameAnswer answer_of(asio::io_context& io, const DnsServer& dns, const std::string& host) {
    DnsSettings settings;
    settings.servers = dns.place();
    settings.search = false;
    settings.patience = 200ms;
    settings.most_records = 100;
    std::optional<NameAnswer> answer;
    const auto question = ask_dns(io.get_executor(), settings, host,
                                  [&](NameAnswer given) { answer = std::move(given); });
    while (!answer) io.run_one();
    return *answer;
}

TEST_F(ResolverTest, WhatFitsIntoThePacketWillDoWhereTcpIsClosed) {
    dns.script = [](const std::string&) {
        auto reply = many(90);
        reply.in_packet = 60;
        return reply;
    };
    dns.refuse_tcp();
    const auto answer = answer_of(io, dns, "yes.test");
    EXPECT_EQ(answer.kind, NameAnswer::Kind::found);
    EXPECT_EQ(answer.addresses.size(), 60U);
    EXPECT_TRUE(answer.truncated);
    EXPECT_TRUE(resolve("yes.test"));
}

TEST_F(ResolverTest, WhatFitsIntoThePacketWillDoWhereTcpIsDropped) {
    dns.script = [](const std::string&) {
        auto reply = many(90);
        reply.in_packet = 60;
        reply.silent_by_tcp = true;
        return reply;
    };
    const auto begun = Clock::now();
    const auto answer = answer_of(io, dns, "yes.test");
    EXPECT_EQ(answer.addresses.size(), 60U);
    EXPECT_TRUE(answer.truncated);
    EXPECT_GT(dns.by_tcp, 0U);
    EXPECT_LT(Clock::now() - begun, 5s);
}

TEST_F(ResolverTest, AnEmptyPacketOfALongerAnswerIsTrouble) {
    dns.script = [](const std::string&) { return many(90); };
    dns.refuse_tcp();
    const auto answer = answer_of(io, dns, "yes.test");
    EXPECT_EQ(answer.kind, NameAnswer::Kind::trouble);
    EXPECT_TRUE(answer.truncated);
    dns.script = usual;
    EXPECT_FALSE(answer_of(io, dns, "yes.test").truncated);
}

TEST_F(ResolverTest, AnEmptyNameIsNotThisHost) {
    EXPECT_EQ(resolve("").error(), base::Error::resolve_failed);
    EXPECT_TRUE(dns.asked.empty());
}

TEST_F(ResolverTest, ANameThatCannotBeIsNotAskedFor) {
    // A label of more than 63 bytes.
    EXPECT_EQ(resolve(std::string(80, 'x')).error(), base::Error::resolve_failed);
    EXPECT_TRUE(dns.asked.empty());
}

TEST_F(ResolverTest, LocalhostNeedsNoNameServer) {
    const auto found = resolve("localhost");
    ASSERT_TRUE(found);
    for (const auto& endpoint : *found) EXPECT_TRUE(endpoint.address().is_loopback());
    EXPECT_TRUE(dns.asked.empty());
}

TEST_F(ResolverTest, TheHostsFileComesFirst) {
    const auto file =
        std::filesystem::temp_directory_path() / ("hosts-" + std::to_string(::getpid()));
    std::ofstream(file) << "127.0.0.9 first.test other.test\n";
    ::setenv("CARES_HOSTS", file.c_str(), 1);
    EXPECT_EQ(text(resolve("other.test")), "127.0.0.9 3129");
    EXPECT_TRUE(dns.asked.empty());
    EXPECT_EQ(text(resolve("third.test")), "127.0.0.7 3129");
    ::unsetenv("CARES_HOSTS");
    std::filesystem::remove(file);
}

TEST_F(ResolverTest, AChangeOfTheHostsFileEndsTheLifetimeOfAnswers) {
    const auto file =
        std::filesystem::temp_directory_path() / ("hosts-change-" + std::to_string(::getpid()));
    ::setenv("CARES_HOSTS", file.c_str(), 1);
    begin({});
    EXPECT_EQ(text(resolve("moved.test")), "127.0.0.7 3129") << "by DNS, for 60 s";
    std::ofstream(file) << "127.0.0.9 moved.test\n";
    now += kHostsFileLook - 1s;
    EXPECT_EQ(text(resolve("moved.test")), "127.0.0.7 3129");
    now += 1s;
    EXPECT_EQ(text(resolve("moved.test")), "127.0.0.9 3129");
    ::unsetenv("CARES_HOSTS");
    std::filesystem::remove(file);
}

TEST_F(ResolverTest, AWaiterMayLeaveAndTheAnswerIsKeptForTheNext) {
    EXPECT_EQ(resolve("yes.test", 1, kPast).error(), base::Error::resolve_timeout);
    EXPECT_EQ(text(resolve("yes.test", 2)), "127.0.0.7 2");
    EXPECT_EQ(text(resolve("yes.test", 3, kPast)), "127.0.0.7 3");
    EXPECT_EQ(dns.asked.size(), 1U);
}

TEST_F(ResolverTest, AnAnswerIsKeptForItsTtl) {
    EXPECT_TRUE(resolve("yes.test"));
    now += 59s;
    EXPECT_TRUE(resolve("yes.test"));
    EXPECT_EQ(dns.asked.size(), 1U);
    now += 1s;
    EXPECT_TRUE(resolve("yes.test"));
    EXPECT_EQ(dns.asked.size(), 2U);
}

TEST_F(ResolverTest, ThatANameDoesNotExistIsKeptShortly) {
    EXPECT_FALSE(resolve("no.test"));
    EXPECT_FALSE(resolve("no.test"));
    EXPECT_EQ(dns.asked.size(), 1U);
    now += kNoSuchNameKept;
    EXPECT_FALSE(resolve("no.test"));
    EXPECT_EQ(dns.asked.size(), 2U);
}

TEST_F(ResolverTest, SilentServersOfOtherNamesDelayNobody) {
    std::list<Pending<base::Result<Endpoints>>> waiting(100);
    int number = 0;
    for (auto& answer : waiting) ask("silent" + std::to_string(number++) + ".test", answer);
    io.poll();
    EXPECT_EQ(text(resolve("yes.test")), "127.0.0.7 3129");
    for (const auto& answer : waiting) EXPECT_FALSE(answer.value);
    resolver.reset();
}

TEST_F(ResolverTest, WhenTheServerFallsSilentTheOldAnswerStandsIn) {  // RFC 8767
    patience = 10ms;
    begin({});
    EXPECT_TRUE(resolve("yes.test"));
    dns.script = [](const std::string&) {
        Reply reply;
        reply.silent = true;
        return reply;
    };
    now += 60s;
    EXPECT_EQ(text(resolve("yes.test")), "127.0.0.7 3129");
    const auto asked = dns.asked.size();
    EXPECT_EQ(text(resolve("yes.test", 2, kPast)), "127.0.0.7 2");
    EXPECT_EQ(dns.asked.size(), asked);
    EXPECT_EQ(resolve("unknown.test").error(), base::Error::resolve_timeout);
}

TEST_F(ResolverTest, AServerThatFailsIsTroubleAndNotAnAnswer) {
    EXPECT_TRUE(resolve("yes.test"));
    dns.script = [](const std::string&) {
        Reply reply;
        reply.code = Reply::Code::server_failure;
        return reply;
    };
    now += 60s;
    EXPECT_EQ(text(resolve("yes.test")), "127.0.0.7 3129");
    EXPECT_EQ(resolve("unknown.test").error(), base::Error::resolve_failed);
}

TEST_F(ResolverTest, ALookUpHasAnEnd) {
    Resolver::Options options;
    options.dns.at_most = 20ms;
    begin(options);
    EXPECT_EQ(resolve("silent.test").error(), base::Error::resolve_timeout);
}

TEST_F(ResolverTest, AllWhoAskForOneNameGetTheAnswerOfOneLookup) {
    std::list<Pending<base::Result<Endpoints>>> answers(kMaxNamesInFlight + 50);
    for (auto& answer : answers) ask("yes.test", answer);
    for (const auto& answer : answers) {
        wait_for(answer);
        EXPECT_TRUE(*answer.value);
    }
    EXPECT_EQ(dns.asked.size(), 1U);
}

TEST_F(ResolverTest, OneClientsNamesDoNotKeepOthersWaiting) {
    std::list<Pending<base::Result<Endpoints>>> answers(kMaxNamesInFlightPerClient);
    int number = 0;
    for (auto& answer : answers) ask("silent" + std::to_string(number++), answer, "10.0.0.1");
    io.poll();
    Pending<base::Result<Endpoints>> one_more, anothers;
    ask("yes.test", one_more, "10.0.0.1");
    ask("other.test", anothers, "10.0.0.2");
    wait_for(anothers);
    EXPECT_TRUE(*anothers.value);
    wait_for(one_more);
    EXPECT_EQ(one_more.value->error(), base::Error::resolver_busy);
    resolver.reset();
}

TEST_F(ResolverTest, ACancelledWaiterLeaves) {
    auto wait = [](Resolver& from, boost::system::error_code& why) -> awaitable<void> {
        HostPort place{"silent.test", 1};
        const auto answer = co_await from.resolve(std::move(place), kFarAway);
        if (!answer) why = answer.error();
    };
    boost::system::error_code why;
    TaskGroup tasks(io.get_executor());
    tasks.spawn(wait(*resolver, why));
    io.poll();
    EXPECT_EQ(tasks.size(), 1U);
    tasks.cancel();
    io.poll();
    EXPECT_EQ(tasks.size(), 0U);
    EXPECT_EQ(why, asio::error::operation_aborted);
}

TEST_F(ResolverTest, ItsEndEndsTheLookUpsUnderWay) {
    auto other = std::make_unique<asio::io_context>();
    Resolver::Options options;
    options.dns.servers = dns.place();
    auto leaving = std::make_unique<Resolver>(other->get_executor(), options);
    Pending<base::Result<Endpoints>> answer;
    start(*other, leaving->resolve({"silent.test", 1}, kFarAway), answer);
    while (dns.asked.empty()) {
        other->poll();
        io.poll();
    }
    leaving.reset();
    other.reset();
    EXPECT_FALSE(answer.value);
    EXPECT_EQ(resolve("yes.test")->size(), 1U);
}

TEST_F(ResolverTest, SaysWithoutWaitingWhetherAnAddressIsStillThatOfItsName) {
    const auto at = [](const char* address) { return asio::ip::make_address(address); };
    EXPECT_TRUE(resolver->leads_to("127.0.0.7", at("127.0.0.7")));
    EXPECT_FALSE(resolver->leads_to("127.0.0.7", at("127.0.0.8")));
    resolve("yes.test");
    EXPECT_TRUE(resolver->leads_to("yes.test", at("127.0.0.7")));
    EXPECT_FALSE(resolver->leads_to("yes.test", at("127.0.0.8")));
    const auto asked = dns.asked.size();

    // The old answer counts until the new one is there.
    dns.script = [](const std::string&) {
        Reply reply;
        reply.addresses = {"127.0.0.8"};
        return reply;
    };
    now += 2h;
    EXPECT_TRUE(resolver->leads_to("yes.test", at("127.0.0.7")));
    while (resolver->leads_to("yes.test", at("127.0.0.7"))) io.run_one();
    EXPECT_TRUE(resolver->leads_to("yes.test", at("127.0.0.8")));
    EXPECT_GT(dns.asked.size(), asked);
}

TEST_F(ResolverTest, SaysOfANameThatIsGoneThatItLeadsNowhere) {
    const auto address = asio::ip::make_address("127.0.0.7");
    EXPECT_TRUE(resolver->leads_to("no.test", address));  // nothing is known of it
    while (resolver->leads_to("no.test", address)) io.run_one();
    EXPECT_FALSE(resolver->leads_to("no.test", address));
}

}  // namespace resolver_test
}  // namespace base::test
