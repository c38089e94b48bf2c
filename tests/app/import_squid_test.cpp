// A squid.conf as a configuration of hearsay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/config/parse_config.hpp"
#include "tests/app/readable_import.hpp"

namespace app {
namespace import_squid_test {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

using Result = ReadableImport;

Result squid(const std::string& text, std::map<std::string, std::string> more = {}) {
    more["/x/squid.conf"] = text;
    SourceFiles files;
    files.read = [&](const std::string& path, std::size_t) -> std::optional<std::string> {
        const auto found = more.find(path);
        if (found == more.end()) return std::nullopt;
        return found->second;
    };
    files.find = [&](const std::string& path) {
        return more.contains(path) ? std::vector<std::string>{path} : std::vector<std::string>();
    };
    return readable_import("/x/squid.conf", SourceFormat::squid, files);
}

/// `lines` after a port, with the lists that a default file has.
Result access(const std::string& lines) {
    return squid(
        "http_port 3128\nacl lan src 10.0.0.0/8\nacl dmz src 192.168.1.0/24\n"
        "acl safe port 80 443\nacl ssl port 443\nacl good dstdomain .good.example\n"
        "acl bad dstdomain .bad.example\nacl late time 20:00-23:59\n"
        "acl words url_regex -i casino\n" +
        lines);
}

bool lets_nobody_in(const Result& result) {
    return result.json["forward"]["clients"] == Json::array() &&
           result.json["clients"]["allow"] == Json::array();
}

void expect_valid(const Result& result) {
    const auto read = proxy::parse_config(result.text);
    EXPECT_TRUE(read.config) << proxy::describe(read.errors) << result.text;
}

TEST(ImportSquid, TakesThePortTheSizesAndTheTimes) {
    auto done = squid(R"(
http_port 10.0.0.1:8080
visible_hostname cache1
workers 4
cache_mem 256 MB
maximum_object_size 64 MB
cache_dir aufs /var/spool/squid 2000 16 256
cache_dir rock /disk2 1000
access_log daemon:/var/log/squid/access.log combined
connect_timeout 30 seconds
read_timeout 15 minutes
shutdown_lifetime 3 seconds
coredump_dir /var/spool/squid
http_access allow all
)");
    auto& json = done.json;
    EXPECT_EQ(json["listen"], "10.0.0.1:8080");
    EXPECT_EQ(json["node"], "cache1");
    EXPECT_EQ(json["workers"], 4);
    EXPECT_EQ(json["cache"]["memory"], "256MiB");
    EXPECT_EQ(json["cache"]["object_max"], "64MiB");
    EXPECT_EQ(json["cache"]["disk"][0]["path"], "/var/spool/squid/hearsay");
    EXPECT_EQ(json["cache"]["disk"][0]["size"], "2000MiB");
    EXPECT_EQ(json["cache"]["disk"].size(), 2u);
    EXPECT_EQ(json["log"]["access"], "/var/log/squid/access.log");
    EXPECT_EQ(json["log"]["format"], "combined");
    EXPECT_EQ(json["timeouts"]["origin_connect"], "30s");
    EXPECT_EQ(json["timeouts"]["body_idle"], "15m");
    EXPECT_EQ(json["timeouts"]["drain"], "3s");
    EXPECT_THAT(done.remarks, HasSubstr("open proxy"));
    expect_valid(done);
}

TEST(ImportSquid, ListsWhatHasNoSettingWithItsLineAndAdvice) {
    auto done = squid(
        "http_port 3128\nsnmp_port 3401\ndns_nameservers 10.0.0.53\nfrobnicate 1\n"
        "icp_port 0\nhttp_port 3129 intercept\ncache_peer c2 sibling 3128 3130\n");
    EXPECT_THAT(done.remarks, HasSubstr("squid.conf:2: snmp_port 3401: read /metrics"));
    EXPECT_THAT(done.remarks, HasSubstr("squid.conf:3: dns_nameservers 10.0.0.53: "));
    EXPECT_THAT(done.remarks, HasSubstr("squid.conf:4: frobnicate 1: hearsay has no setting"));
    EXPECT_THAT(done.remarks, Not(HasSubstr("icp_port")));
    EXPECT_THAT(done.remarks, HasSubstr("squid.conf:6: http_port 3129 intercept: "));
    EXPECT_THAT(done.remarks, HasSubstr("hearsay init"));
}

TEST(ImportSquid, PermitsTheClientsOfTheList) {
    auto done = access(
        "http_access deny CONNECT !ssl\nhttp_access allow localhost manager\nhttp_access deny "
        "manager\n"
        "http_access allow lan\nhttp_access allow localhost\nhttp_access deny all\n");
    EXPECT_EQ(done.json["forward"]["enabled"], true);
    EXPECT_EQ(done.json["forward"]["clients"], Json::parse(R"(["10.0.0.0/8","127.0.0.1","::1"])"));
    EXPECT_EQ(done.json["forward"]["connect_ports"], Json::parse("[443]"));
    EXPECT_EQ(done.warnings, 0u) << done.remarks;
    expect_valid(done);
}

TEST(ImportSquid, LetsNobodyInWithoutAList) {
    EXPECT_TRUE(lets_nobody_in(access("")));
    EXPECT_TRUE(lets_nobody_in(access("http_access deny all\n")));
    EXPECT_TRUE(lets_nobody_in(access("http_access frob all\nhttp_access allow all\n")));
    expect_valid(access(""));
}

TEST(ImportSquid, EndsWithTheOppositeOfTheLastLine) {
    EXPECT_EQ(access("http_access deny dmz\n").json["forward"]["clients"].size(), 2u);
    EXPECT_EQ(access("http_access deny dmz\n").json["clients"]["deny"][0], "192.168.1.0/24");
    EXPECT_EQ(access("http_access allow dmz\n").json["forward"]["clients"][0], "192.168.1.0/24");
    EXPECT_EQ(access("http_access allow dmz\n").json["forward"]["clients"].size(), 1u);
}

TEST(ImportSquid, ReadsNoLineBehindOneThatMatchesAll) {
    auto done = access("http_access allow all\nhttp_access deny late\nhttp_access deny lan\n");
    EXPECT_FALSE(done.json["clients"].contains("deny"));
    EXPECT_EQ(done.json["forward"]["clients"].size(), 2u);
}

TEST(ImportSquid, ClosesWhereADenialHasNoSetting) {
    for (const auto* line :
         {"http_access deny late\n", "http_access deny words\n", "http_access deny late words\n",
          "http_access deny gone\n", "http_access deny !late\n"}) {
        auto done = access(std::string(line) + "http_access allow lan\n");
        EXPECT_TRUE(lets_nobody_in(done)) << line << done.text;
        EXPECT_THAT(done.remarks, HasSubstr("W squid.conf:10: "));
        EXPECT_THAT(done.remarks, HasSubstr("Closed"));
    }
    // What stood before it stays.
    auto done = access("http_access allow dmz\nhttp_access deny late\nhttp_access allow lan\n");
    EXPECT_EQ(done.json["forward"]["clients"], Json::parse(R"(["192.168.1.0/24"])"));
}

TEST(ImportSquid, LeavesAPermissionOutThatHasNoSetting) {
    for (const auto* line : {"http_access allow lan late\n", "http_access allow words\n",
                             "http_access allow lan CONNECT\n", "http_access allow gone\n"}) {
        auto done = access(line + std::string("http_access allow dmz\nhttp_access deny all\n"));
        EXPECT_EQ(done.json["forward"]["clients"], Json::parse(R"(["192.168.1.0/24"])")) << line;
        EXPECT_EQ(done.warnings, 1u) << done.remarks;
    }
}

TEST(ImportSquid, DeniesMoreWhereConditionsCannotBeCombined) {
    auto late = access("http_access deny dmz late\nhttp_access allow all\n");
    EXPECT_EQ(late.json["clients"]["deny"][0], "192.168.1.0/24");
    EXPECT_THAT(late.remarks, HasSubstr("the clients alone decide"));
    EXPECT_EQ(
        access("http_access deny !lan late\nhttp_access allow all\n").json["forward"]["clients"],
        Json::parse(R"(["10.0.0.0/8"])"));
}

TEST(ImportSquid, NarrowsByNegatedConditions) {
    EXPECT_EQ(access("http_access deny !lan\nhttp_access allow all\n").json["forward"]["clients"],
              Json::parse(R"(["10.0.0.0/8"])"));
    auto nothing = access("http_access deny !lan\nhttp_access allow dmz\nhttp_access deny all\n");
    EXPECT_TRUE(lets_nobody_in(nothing)) << nothing.text;
}

TEST(ImportSquid, GivesEveryClientWhatTheStrictestMay) {
    auto done = access("http_access allow lan good\nhttp_access allow dmz\nhttp_access deny all\n");
    EXPECT_EQ(done.json["forward"]["clients"].size(), 2u);
    EXPECT_EQ(done.json["forward"]["destinations"]["allow"],
              Json::parse(R"(["good.example","*.good.example"])"));
    EXPECT_EQ(done.warnings, 1u);
    auto apart = access("http_access allow lan good\nhttp_access allow dmz bad\n");
    EXPECT_EQ(apart.json["forward"]["clients"], Json::parse(R"(["10.0.0.0/8"])"));
    EXPECT_EQ(apart.warnings, 1u);
    auto within = access("http_access allow lan good\nhttp_access allow lan\n");
    EXPECT_FALSE(within.json["forward"].contains("destinations"));
    EXPECT_EQ(within.warnings, 0u);
}

TEST(ImportSquid, RefusesHostsAndPorts) {
    auto done = access(
        "http_access deny bad\nhttp_access deny !safe\nhttp_access allow lan\n"
        "http_access deny all\n");
    auto& to = done.json["forward"]["destinations"];
    EXPECT_EQ(to["deny"], Json::parse(R"(["bad.example","*.bad.example"])"));
    EXPECT_EQ(to["allow"], Json::parse(R"(["*:80","*:443"])"));
    EXPECT_EQ(done.warnings, 0u) << done.remarks;
    auto ranges = squid(
        "http_port 1\nacl safe port 80 1025-65535\nhttp_access deny !safe\n"
        "http_access allow all\n");
    EXPECT_EQ(ranges.json["forward"]["destinations"]["allow"], Json::parse(R"(["*:80"])"));
    EXPECT_THAT(ranges.remarks, HasSubstr("1025-65535 is left out"));
    auto denied = squid(
        "http_port 1\nacl smtp port 25\nhttp_access deny smtp\n"
        "http_access allow all\n");
    EXPECT_EQ(denied.json["forward"]["destinations"]["deny"], Json::parse(R"(["*:25"])"));
    auto many = squid(
        "http_port 1\nacl high port 1024-65535\nhttp_access deny high\n"
        "http_access allow all\n");
    EXPECT_TRUE(lets_nobody_in(many));
}

TEST(ImportSquid, RefusesAListInAFileAsABlocklist) {
    auto done = squid(
        "http_port 1\nacl ads dstdomain \"/etc/squid/ads.txt\" .ads.example\n"
        "http_access deny ads\nhttp_access allow localhost\n");
    EXPECT_EQ(done.json["forward"]["blocklists"][0]["path"], "/etc/squid/ads.txt");
    EXPECT_EQ(done.json["forward"]["blocklists"][0]["format"], "dstdomain");
    EXPECT_EQ(done.json["forward"]["destinations"]["deny"][0], "ads.example");
}

TEST(ImportSquid, NeedsTheFileOfAListThatPermits) {
    const std::string text =
        "http_port 1\nacl good dstdomain \"/etc/squid/good.txt\"\n"
        "http_access allow good\nhttp_access deny all\n";
    auto missing = squid(text);
    EXPECT_TRUE(lets_nobody_in(missing));
    EXPECT_THAT(missing.remarks, HasSubstr("good.txt cannot be read here"));
    auto read = squid(text, {{"/x/good.txt", "# ours\n.good.example\n"}});
    EXPECT_EQ(read.json["forward"]["destinations"]["allow"][0], "good.example");
    auto negated = squid(
        "http_port 1\nacl good dstdomain \"/etc/squid/good.txt\"\n"
        "http_access deny !good\nhttp_access allow all\n");
    EXPECT_TRUE(lets_nobody_in(negated));
}

TEST(ImportSquid, JudgesTargetsByAddressOnlyWhereTheyArePrivate) {
    auto inner = squid(
        "http_port 1\nacl inner dst 10.0.0.0/8 192.168.0.0/16\n"
        "http_access deny inner\nhttp_access deny to_localhost\n"
        "http_access allow all\n");
    EXPECT_EQ(inner.json["forward"]["clients"].size(), 2u) << "hearsay denies these by default";
    auto outer = squid(
        "http_port 1\nacl outer dst 203.0.113.0/24\nhttp_access deny outer\n"
        "http_access allow all\n");
    EXPECT_TRUE(lets_nobody_in(outer));
}

TEST(ImportSquid, AsksForPasswordsOfAFile) {
    const std::string users =
        "http_port 1\nauth_param basic program /usr/lib/squid/basic_ncsa_auth "
        "/etc/squid/passwd\nauth_param basic realm Our proxy\n"
        "acl users proxy_auth REQUIRED\n";
    auto done = squid(users + "http_access deny !users\nhttp_access allow localhost\n");
    auto& asked = done.json["forward"]["authentication"];
    EXPECT_EQ(asked["users"], "/etc/squid/passwd");
    EXPECT_EQ(asked["realm"], "Our proxy");
    auto mixed = squid(users +
                       "http_access allow localhost\nhttp_access allow users\n"
                       "http_access deny all\n");
    EXPECT_TRUE(mixed.json["forward"].contains("authentication")) << "for everybody";
    EXPECT_EQ(mixed.warnings, 1u);
    auto ldap = squid(
        "http_port 1\nauth_param basic program /usr/lib/squid/basic_ldap_auth -b x\n"
        "acl users proxy_auth REQUIRED\nhttp_access allow users\n"
        "http_access deny all\n");
    EXPECT_TRUE(lets_nobody_in(ldap));
    auto one = squid(users + "acl boss proxy_auth anna\nhttp_access allow boss\n");
    EXPECT_TRUE(lets_nobody_in(one));
}

TEST(ImportSquid, SkipsLinesWithoutConditionsAsSquidDoes) {
    EXPECT_TRUE(lets_nobody_in(access("http_access allow\nhttp_access deny all\n")));
    EXPECT_TRUE(lets_nobody_in(access("http_access deny all\nhttp_access deny\n")));
}

TEST(ImportSquid, SaysThatAParentResolvesTheNamesOfPrivateTargets) {
    auto done = access(
        "http_access deny to_localhost\nhttp_access allow lan\n"
        "cache_peer up parent 3128 0\n");
    EXPECT_THAT(done.remarks, HasSubstr("OPEN: names"));
    EXPECT_EQ(access("http_access deny to_localhost\nhttp_access allow lan\n").warnings, 0u);
}

TEST(ImportSquid, ClosesWithFiltersThatItDoesNotKnow) {
    for (const auto* line : {"url_rewrite_program /usr/bin/squidGuard", "icap_enable on",
                             "http_reply_access deny all", "ssl_bump terminate all", "if true"}) {
        auto done = access(std::string("http_access allow lan\n") + line + "\n");
        EXPECT_TRUE(lets_nobody_in(done)) << line;
        EXPECT_GE(done.warnings, 1u);
    }
    EXPECT_FALSE(
        lets_nobody_in(access("http_access allow lan\nhttp_reply_access allow all\n"
                              "icap_enable off\nssl_bump splice all\n")));
}

TEST(ImportSquid, SendsRequestsToParents) {
    auto done = access(
        "http_access allow lan\nacl ours dstdomain .our.example\n"
        "cache_peer up1.example parent 3128 0 no-query default\n"
        "cache_peer up2.example parent 8080 7 login=anna:secret\n"
        "cache_peer up3.example parent 3129 0 tls\n"
        "cache_peer up4.example parent 8080 0 login=anna@corp.example:a%20b:c%%d\n"
        "never_direct allow all\nalways_direct allow ours\n"
        "always_direct allow to_linklocal\n");
    EXPECT_EQ(
        done.json["forward"]["parent"],
        Json::parse(
            R"(["http://up1.example:3128","http://anna:secret@up2.example:8080","https://up3.example:3129","http://anna%40corp.example:a%20b%3Ac%25d@up4.example:8080"])"));
    EXPECT_EQ(done.json["forward"]["no_proxy"], Json::parse(R"(["our.example","*.our.example"])"));
}

TEST(ImportSquid, ClosesWithoutTheParentThatAllRequestsNeed) {
    for (const auto* options :
         {"tls tls-cafile=/ca.pem", "tls sslflags=DONT_VERIFY_PEER", "login=PASS", "login=*:x"}) {
        auto done = access(std::string("http_access allow lan\nnever_direct allow all\n"
                                       "cache_peer up parent 3128 0 ") +
                           options + "\n");
        EXPECT_TRUE(lets_nobody_in(done)) << options << done.text;
    }
}

TEST(ImportSquid, MakesSitesOfAnAccelerator) {
    auto done = squid(R"(
http_port 80 accel defaultsite=www.example.org
cache_peer 10.0.0.5 parent 8080 0 no-query originserver name=app
acl ours dstdomain www.example.org
http_access allow ours
http_access deny all
)");
    EXPECT_EQ(done.json["origins"],
              Json::parse(R"([{"host":"www.example.org","url":"http://10.0.0.5:8080"}])"));
    EXPECT_FALSE(done.json.contains("forward"));
    EXPECT_EQ(done.warnings, 0u) << done.remarks;
    expect_valid(done);
}

TEST(ImportSquid, SpreadsASiteOverItsPeers) {
    auto done = squid(R"(
http_port 80 accel vhost
cache_peer a.example parent 80 0 originserver round-robin weight=3 name=a
cache_peer b.example parent 80 0 originserver round-robin name=b
cache_peer c.example parent 443 0 originserver ssl sslflags=DONT_VERIFY_PEER name=c
acl shop dstdomain .shop.example
acl news dstdomain news.example
cache_peer_access a allow shop
cache_peer_access a deny all
cache_peer_access b allow shop
cache_peer_access c allow news
http_access allow all
)");
    auto& sites = done.json["origins"];
    ASSERT_EQ(sites.size(), 3u) << done.text;
    EXPECT_EQ(sites[0]["host"], "shop.example");
    EXPECT_EQ(sites[0]["balance"], "round_robin");
    EXPECT_EQ(sites[0]["upstreams"][0]["weight"], 3);
    EXPECT_EQ(sites[1]["host"], "news.example");
    EXPECT_EQ(sites[1]["tls"]["verify"], false);
    EXPECT_EQ(sites[2]["host"], "*.shop.example");
}

TEST(ImportSquid, ClosesSitesThatOnlySomeClientsMayNotSee) {
    const auto peer =
        std::string("http_port 80 accel vhost\ncache_peer a parent 80 0 originserver\n");
    EXPECT_TRUE(lets_nobody_in(squid(peer + "acl x dstdomain x.example\nhttp_access deny x\n"
                                            "http_access allow all\n")));
    EXPECT_TRUE(lets_nobody_in(squid(peer + "acl p urlpath_regex ^/admin\nhttp_access deny p\n"
                                            "http_access allow all\n")));
    auto lan = squid(peer + "acl lan src 10.0.0.0/8\nhttp_access allow lan\n");
    EXPECT_EQ(lan.json["clients"]["allow"], Json::parse(R"(["10.0.0.0/8"])"));
}

TEST(ImportSquid, TurnsRefreshPatternsIntoRules) {
    auto done = squid(R"(
http_port 1
refresh_pattern -i \.(DEB|rpm)$ 1440 20% 10080 override-expire ignore-no-store ignore-private
refresh_pattern ^http://cdn\.example/ 0 20% 4320 max-stale=60
refresh_pattern ^ftp: 1440 20% 10080
refresh_pattern . 0 20% 4320
)");
    auto& rules = done.json["rules"];
    ASSERT_EQ(rules.size(), 2u) << done.text;
    EXPECT_EQ(rules[0]["match"]["paths"], Json::parse(R"(["*.deb","*.rpm"])"));
    EXPECT_EQ(rules[0]["at_least"], "1d");
    EXPECT_EQ(rules[0]["at_most"], "7d");
    EXPECT_EQ(rules[0]["ignore"], Json::parse(R"(["no-store","private"])"));
    EXPECT_EQ(rules[1]["match"]["hosts"], Json::parse(R"(["cdn.example"])"));
    EXPECT_EQ(rules[1]["stale_if_error"], "1h");
    EXPECT_EQ(done.json["cache"]["heuristic"]["fraction"], 0.2);
    EXPECT_EQ(done.json["cache"]["heuristic"]["maximum"], "3d");
    expect_valid(done);
}

TEST(ImportSquid, SharesNoMoreBehindAPatternThatHasNoRule) {
    auto done = squid(
        "http_port 1\nrefresh_pattern /private/[0-9]+ 0 0% 0\n"
        "refresh_pattern . 10 20% 60 override-expire ignore-private\n");
    EXPECT_FALSE(done.json["rules"][0].contains("ignore")) << done.text;
    EXPECT_THAT(done.remarks, HasSubstr("W squid.conf:3: "));
}

TEST(ImportSquid, RaisesNoLifetimeThatTheOriginStates) {
    auto done = squid("http_port 1\nrefresh_pattern \\.jpg$ 60 20% 120\n");
    EXPECT_FALSE(done.json["rules"][0].contains("at_least"));
    EXPECT_THAT(done.remarks, HasSubstr("at_least would also raise"));
}

TEST(ImportSquid, BypassesTheCacheWhereSquidDoes) {
    auto done = squid(
        "http_port 1\nacl live dstdomain .live.example\ncache deny live\n"
        "acl late time 20:00-23:59\ncache deny late\n");
    EXPECT_EQ(done.json["rules"][0]["match"]["hosts"][1], "*.live.example");
    EXPECT_EQ(done.json["rules"][0]["bypass"], true);
    EXPECT_FALSE(done.json["rules"][1].contains("match"));
    EXPECT_THAT(done.remarks, HasSubstr("W squid.conf:5: "));
}

TEST(ImportSquid, ChangesFields) {
    auto done = squid(R"(
http_port 1
forwarded_for delete
via off
request_header_access User-Agent deny all
request_header_replace User-Agent Mozilla/5.0 (x)
reply_header_access Server deny all
request_header_access All deny all
request_header_add X-Office north all
)");
    auto& rule = done.json["rules"][0];
    EXPECT_EQ(rule["name"], "others");
    EXPECT_EQ(rule["request_fields"]["set"]["User-Agent"], "Mozilla/5.0 (x)");
    EXPECT_EQ(rule["request_fields"]["add"]["X-Office"], "north");
    EXPECT_EQ(rule["request_fields"]["remove"][0], "X-Forwarded-For");
    EXPECT_EQ(rule["response_fields"]["remove"], Json::parse(R"(["Server"])"));
    EXPECT_EQ(done.json["forwarded"]["forward"], "off");
    EXPECT_THAT(done.remarks, HasSubstr("squid.conf:4: via off"));
    EXPECT_THAT(done.remarks, HasSubstr("OPEN"));
    expect_valid(done);
}

TEST(ImportSquid, TrustsTheProxiesThatSquidBelieves) {
    auto done = squid(
        "http_port 1\nfollow_x_forwarded_for allow localhost\n"
        "follow_x_forwarded_for deny all\n");
    EXPECT_EQ(done.json["clients"]["trusted_proxies"], Json::parse(R"(["127.0.0.1","::1"])"));
    expect_valid(done);
}

TEST(ImportSquid, SlowsClientsDown) {
    auto done = squid(
        "http_port 1\ndelay_pools 1\ndelay_class 1 2\ndelay_access 1 allow all\n"
        "delay_parameters 1 -1/-1 64000/128000\n");
    EXPECT_EQ(done.json["clients"]["limits"]["per_address"]["bandwidth"], "64KB");
}

TEST(ImportSquid, LetsThePurgersPurge) {
    auto done = squid(
        "http_port 1\nacl purge method PURGE\nacl ops src 10.1.0.0/16\n"
        "http_access allow purge ops\nhttp_access deny purge\n"
        "http_access allow localhost\n");
    EXPECT_EQ(done.json["purge"]["allow"], Json::parse(R"(["10.1.0.0/16"])"));
    expect_valid(done);
}

TEST(ImportSquid, ServesTls) {
    auto done = squid(
        "http_port 3128\nhttps_port 3129 tls-cert=/c.pem tls-key=/k.pem\n"
        "https_port 3130 intercept tls-cert=/c.pem\n");
    EXPECT_EQ(done.json["tls"], Json::parse(R"({"listen":"0.0.0.0:3129","certificate":"/c.pem",
                                               "key":"/k.pem"})"));
    EXPECT_THAT(done.remarks, HasSubstr("squid.conf:3: "));
}

}  // namespace import_squid_test
}  // namespace app
