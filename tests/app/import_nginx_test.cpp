// A configuration of nginx as one of hearsay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/config/parse_config.hpp"
#include "tests/app/readable_import.hpp"

namespace app {
namespace import_nginx_test {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

using Result = ReadableImport;

Result nginx(const std::string& text) {
    SourceFiles files;
    files.read = [&](const std::string&, std::size_t) { return std::optional(text); };
    files.find = [&](const std::string&) { return std::vector<std::string>(); };
    return readable_import("/x/nginx.conf", SourceFormat::nginx, files);
}

/// A server with one cached location, which `in_server` and `in_location` add to.
Result site(const std::string& in_server, const std::string& in_location = "") {
    return nginx(
        "proxy_cache_path /var/cache/nginx keys_zone=z:10m max_size=2g inactive=1h;\n"
        "server {\n listen 80; server_name a.example;\n " +
        in_server +
        "\n location / { proxy_pass http://10.0.0.5:8080; proxy_set_header Host $host; "
        "proxy_cache z; " +
        in_location + " }\n}\n");
}

bool lets_nobody_in(const Result& result) {
    return !result.json.contains("origins") && result.json["clients"]["allow"] == Json::array();
}

void expect_valid(const Result& result) {
    const auto read = proxy::parse_config(result.text);
    EXPECT_TRUE(read.config) << proxy::describe(read.errors) << result.text;
}

TEST(ImportNginx, ARuleOfAnExpressionJudgesNoContentOfOtherServers) {
    const auto done = nginx(
        "proxy_cache_path /var/cache/nginx keys_zone=z:10m;\n"
        "server {\n listen 80; server_name a.example;\n"
        " location / { proxy_pass http://10.0.0.5; proxy_cache z; }\n"
        " location /api/ { proxy_pass http://10.0.0.6; }\n"
        " location ~ \\.png$ { proxy_pass http://10.0.0.5; proxy_cache z; "
        "proxy_ignore_headers Cache-Control Expires; proxy_cache_valid 200 1h; }\n}\n");
    EXPECT_THAT(done.text, Not(HasSubstr("png")));
    EXPECT_THAT(done.remarks, HasSubstr("W nginx.conf:6"));
    EXPECT_THAT(done.remarks, HasSubstr("The rule of this location is left out"));
}

TEST(ImportNginx, MakesASiteOfAServer) {
    auto done = site("");
    EXPECT_EQ(done.json["listen"], "0.0.0.0:80");
    EXPECT_EQ(done.json["origins"],
              Json::parse(R"([{"host":"a.example","url":"http://10.0.0.5:8080"}])"));
    EXPECT_EQ(done.json["cache"]["disk"][0]["path"], "/var/cache/nginx/hearsay");
    EXPECT_EQ(done.json["cache"]["disk"][0]["size"], "2GiB");
    ASSERT_EQ(done.json["rules"].size(), 1u);
    EXPECT_FALSE(done.json["rules"][0].contains("bypass"));
    EXPECT_EQ(done.remarks, "");
    expect_valid(done);
}

TEST(ImportNginx, TakesSettingsOfTheWholeNode) {
    auto done = nginx(R"(
user www-data; worker_processes 4;
events { worker_connections 1024; }
http {
  include mime.types; sendfile on; keepalive_timeout 65;
  access_log /var/log/nginx/access.log main;
  set_real_ip_from 10.0.0.0/8; real_ip_header X-Forwarded-For;
  server { listen 8080 default_server; location / {
    proxy_pass http://app; proxy_connect_timeout 3s; proxy_read_timeout 2m;
    proxy_set_header Host $host; proxy_set_header X-Forwarded-For $remote_addr; } }
  upstream app { server 10.0.0.5:8080; keepalive 16; }
})");
    EXPECT_EQ(done.json["workers"], 4);
    EXPECT_EQ(done.json["timeouts"]["keep_alive"], "65s");
    EXPECT_EQ(done.json["timeouts"]["origin_connect"], "3s");
    EXPECT_EQ(done.json["timeouts"]["origin_head"], "2m");
    EXPECT_EQ(done.json["log"]["access"], "/var/log/nginx/access.log");
    EXPECT_EQ(done.json["clients"]["trusted_proxies"][0], "10.0.0.0/8");
    EXPECT_EQ(done.json["forwarded"]["origins"], "replace");
    EXPECT_EQ(done.json["origins"], Json::parse(R"([{"host":"*","url":"http://10.0.0.5:8080"}])"));
    EXPECT_EQ(done.json["rules"][0]["bypass"], true) << "nginx has no cache here";
    EXPECT_EQ(done.remarks, "");
    expect_valid(done);
}

TEST(ImportNginx, TrustsNoProxyThatNamesClientsInAnotherField) {
    auto done = nginx(
        "set_real_ip_from 10.0.0.0/8;\nserver { location / { proxy_pass http://a; "
        "proxy_set_header Host $host; } }");
    EXPECT_FALSE(done.json.contains("clients"));
    EXPECT_EQ(done.warnings, 1u);
}

TEST(ImportNginx, GivesLifetimesOnlyWhereNginxIgnoresTheOrigin) {
    auto done = site("",
                     "proxy_ignore_headers Cache-Control Expires Set-Cookie Vary; "
                     "proxy_cache_valid 200 302 10m; proxy_cache_valid 404 1m;");
    auto& rule = done.json["rules"][0];
    EXPECT_EQ(rule["fresh_for"], Json::parse(R"({"200":"10m","302":"10m","404":"1m"})"));
    EXPECT_EQ(rule["ignore"],
              Json::parse(R"(["set-cookie","vary","no-store","private","no-cache"])"));
    expect_valid(done);
    auto stated = site("", "proxy_cache_valid 10m;");
    EXPECT_FALSE(stated.json["rules"][0].contains("fresh_for"));
    EXPECT_THAT(stated.remarks, HasSubstr(R"("fresh_for": {"200":"10m","301":"10m","302":"10m"})"));
    auto nothing = site("", "proxy_ignore_headers Cache-Control Expires;");
    EXPECT_EQ(nothing.json["rules"][0]["bypass"], true)
        << "nginx stores nothing without a lifetime";
}

TEST(ImportNginx, ServesStaleContentAsLongAsNginxKeepsIt) {
    auto done = site("", "proxy_cache_use_stale error timeout http_500 http_429 updating;");
    auto& rule = done.json["rules"][0];
    EXPECT_EQ(rule["stale_if_error"], "1h");
    EXPECT_EQ(rule["stale_while_revalidate"], "1h");
    EXPECT_EQ(rule["stale_on"], Json::parse("[429,500]"));
    expect_valid(done);
}

TEST(ImportNginx, KeepsTheQueryThatTheKeyHas) {
    const auto rule = [](const std::string& key) {
        return site("", "proxy_cache_key " + key + ";").json["rules"][0];
    };
    EXPECT_FALSE(rule("$scheme$proxy_host$request_uri").contains("query"));
    EXPECT_FALSE(rule("\"$host$uri$is_args$args\"").contains("query"));
    EXPECT_EQ(rule("$host$uri")["query"], "ignore");
    EXPECT_EQ(rule("$host$uri$arg_page$arg_size")["query"],
              Json::parse(R"({"keep":["page","size"]})"));
}

TEST(ImportNginx, BypassesTheCacheWhereTheKeyTellsClientsApart) {
    for (const auto* line :
         {"proxy_cache_key $host$request_uri$cookie_session;",
          "proxy_cache_key $host$request_uri$http_accept_language;",
          "proxy_cache_key $host$request_uri$mobile;", "proxy_no_cache $cookie_session;",
          "proxy_no_cache $skip;", "set $k $cookie_id; proxy_cache_key $host$request_uri$k;"}) {
        auto done = site("", line);
        EXPECT_EQ(done.json["rules"][0]["bypass"], true) << line;
        EXPECT_EQ(done.warnings, 1u) << done.remarks;
    }
    auto obeyed = site("",
                       "proxy_no_cache $http_pragma $http_authorization; "
                       "proxy_cache_bypass $http_upgrade;");
    EXPECT_FALSE(obeyed.json["rules"][0].contains("bypass"));
    EXPECT_EQ(obeyed.remarks, "");
}

TEST(ImportNginx, LeavesAServerOutThatRefusesWhatHearsayCannot) {
    const char* const kRefusals[] = {
        "location /admin { deny all; }",
        "location ~ /\\.ht { deny all; }",
        "location /secret { return 403; }",
        "location /inner { internal; proxy_pass http://b; }",
        "location /area { auth_basic x; proxy_pass http://b; }",
        "auth_basic closed; auth_basic_user_file /f;",
        "ssl_verify_client on;",
        "if ($request_method = POST) { return 405; }",
        "auth_request /check;",
        "location /up { limit_except GET { deny all; } proxy_pass http://b; }",
        "location /geo { allow 10.0.0.0/8; deny all; proxy_pass http://b; }",
        "access_by_lua_block { if x then end }"};
    for (const auto* line : kRefusals) {
        auto done = site(line);
        EXPECT_TRUE(lets_nobody_in(done)) << line << done.text;
        EXPECT_THAT(done.remarks, HasSubstr("Closed")) << line;
        expect_valid(done);
    }
    EXPECT_FALSE(lets_nobody_in(site("auth_basic off; ssl_verify_client off;")));
    EXPECT_FALSE(lets_nobody_in(
        site("error_page 500 502 /50x.html; location = /50x.html { internal; root /srv; }")));
    EXPECT_FALSE(lets_nobody_in(site("location /st { stub_status; allow 127.0.0.1; deny all; }")));
}

TEST(ImportNginx, LetsTheClientsOfTheFirstSiteIn) {
    auto done = site("allow 10.0.0.0/8; allow 192.168.1.0/24; deny all;");
    EXPECT_EQ(done.json["clients"]["allow"], Json::parse(R"(["10.0.0.0/8","192.168.1.0/24"])"));
    auto denied = site("deny 10.0.0.9; allow 10.0.0.0/8; deny all;");
    EXPECT_EQ(denied.json["clients"]["deny"], Json::parse(R"(["10.0.0.9"])"));
    EXPECT_TRUE(lets_nobody_in(site("deny all;")));
    EXPECT_TRUE(lets_nobody_in(site("allow 10.0.0.9; deny 10.0.0.0/8;"))) << "denials win";
    auto two = nginx(R"(
server { listen 80; server_name a.example; location / { proxy_pass http://a; proxy_set_header Host $host; } }
server { listen 80; server_name b.example; allow 10.0.0.0/8; deny all;
         location / { proxy_pass http://b; proxy_set_header Host $host; } })");
    ASSERT_EQ(two.json["origins"].size(), 1u);
    EXPECT_EQ(two.json["origins"][0]["host"], "a.example");
    EXPECT_EQ(two.warnings, 1u);
}

TEST(ImportNginx, HasOneListener) {
    auto done = nginx(R"(
server { listen 80; listen [::]:80; server_name a.example; location / { proxy_pass http://a; } }
server { listen 127.0.0.1:8080; server_name inner.example; location / { proxy_pass http://b; } })");
    ASSERT_EQ(done.json["origins"].size(), 1u) << done.text;
    EXPECT_THAT(done.remarks, HasSubstr("W nginx.conf:3: "));
}

TEST(ImportNginx, ServesTlsWithTheCertificateOfEachServer) {
    auto done = nginx(R"(
server { listen 443 ssl; server_name a.example; ssl_certificate /a.pem; ssl_certificate_key /a.key;
         location / { proxy_pass https://10.0.0.5; proxy_ssl_verify off; } }
server { listen 443 ssl http2; server_name b.example; ssl_certificate /b.pem; ssl_certificate_key /b.key;
         location / { proxy_pass http://10.0.0.6; } }
server { listen 80; return 301 https://$host$request_uri; })");
    EXPECT_EQ(done.json["listen"], "127.0.0.1:3128") << "no site answers without TLS";
    EXPECT_EQ(done.json["tls"]["listen"], "0.0.0.0:443");
    EXPECT_EQ(done.json["tls"]["certificate"], "/a.pem");
    EXPECT_EQ(done.json["tls"]["certificates"][0]["key"], "/b.key");
    EXPECT_EQ(done.json["origins"][0]["tls"]["verify"], false);
    EXPECT_THAT(done.remarks, HasSubstr("nginx.conf:6: server: "));
    expect_valid(done);
}

TEST(ImportNginx, SpreadsASiteOverItsUpstream) {
    auto done = nginx(R"(
upstream app { least_conn; server a:1 weight=3; server b:2 backup; server c:3 down; server a:1; }
server { listen 80; server_name x.example; location / { proxy_pass http://app; } })");
    EXPECT_EQ(done.json["origins"][0],
              Json::parse(R"({"host":"x.example","balance":"least_in_flight","upstreams":[
                  {"url":"http://a:1","weight":3},{"url":"http://b:2","backup":true}]})"));
}

TEST(ImportNginx, OrdersSitesAndPathsAsNginxChooses) {
    auto done = nginx(R"(
server { listen 80 default_server; server_name _; location / { proxy_pass http://rest; } }
server { listen 80; server_name *.w.example; location / { proxy_pass http://w; } }
server { listen 80; server_name .e.example;
  location / { proxy_pass http://e; }
  location /api/ { proxy_pass http://api; }
  location /api/v2/ { proxy_pass http://v2; }
  location /same/ { proxy_pass http://e; } })");
    std::string order;
    for (const auto& entry : done.json["origins"])
        order += entry["host"].get<std::string>() + entry.value("path", "") + " ";
    EXPECT_EQ(order,
              "e.example/api/v2/ e.example/api/ e.example *.w.example *.e.example/api/v2/ "
              "*.e.example/api/ *.e.example * ");
}

TEST(ImportNginx, OrdersRulesAsNginxChoosesLocations) {
    auto done = site(
        "location ~* \\.(css|JS)$ { proxy_pass http://10.0.0.5:8080; proxy_cache z; "
        "proxy_set_header Host $host; }\n"
        "location ^~ /static/ { proxy_pass http://10.0.0.5:8080; proxy_set_header Host "
        "$host; }\n"
        "location = /x { proxy_pass http://10.0.0.5:8080; proxy_set_header Host $host; }");
    auto& rules = done.json["rules"];
    ASSERT_EQ(rules.size(), 4u) << done.text;
    EXPECT_EQ(rules[0]["match"]["paths"], Json::parse(R"(["/x"])"));
    EXPECT_EQ(rules[1]["match"]["paths"], Json::parse(R"(["/static/*"])"));
    EXPECT_EQ(rules[2]["match"]["paths"], Json::parse(R"(["*.css","*.js"])"));
    EXPECT_FALSE(rules[3]["match"].contains("paths"));
    EXPECT_EQ(done.json["origins"].size(), 1u) << "the other paths lead to the same server";
}

TEST(ImportNginx, SaysWhatBecomesOfExpressionsWithServersOfTheirOwn) {
    auto done =
        site("location ~ \\.php$ { proxy_pass http://10.0.0.6; proxy_set_header Host $host; }");
    EXPECT_EQ(done.json["origins"].size(), 1u);
    EXPECT_THAT(done.remarks, HasSubstr("the servers of the other locations"));
    auto alone = nginx("server { listen 80; location ~ \\.ts$ { proxy_pass http://a; } }");
    EXPECT_TRUE(lets_nobody_in(alone));
    EXPECT_THAT(alone.remarks, HasSubstr("without a location for /"));
    auto exact = nginx("server { listen 80; location = / { proxy_pass http://a; } }");
    EXPECT_TRUE(lets_nobody_in(exact)) << "an entry of origins is for all paths that begin so";
}

TEST(ImportNginx, LeavesRewrittenPathsOut) {
    auto done = site("location /old/ { proxy_pass http://10.0.0.5:8080/new/; }");
    EXPECT_EQ(done.json["origins"].size(), 1u);
    EXPECT_THAT(done.remarks, HasSubstr("rewrites no path (/new/)"));
    auto same = site("location /app/ { proxy_pass http://10.0.0.6/app/; }");
    EXPECT_EQ(same.json["origins"][0]["path"], "/app/");
}

TEST(ImportNginx, KnowsVariablesWithAFixedValue) {
    auto fixed = nginx(
        "server { listen 80; location / { set $b http://app.example:81; "
        "proxy_pass $b; proxy_set_header Host $host; } }");
    EXPECT_EQ(fixed.json["origins"][0]["url"], "http://app.example:81");
    auto open = nginx("server { listen 80; location / { proxy_pass http://$host; } }");
    EXPECT_TRUE(lets_nobody_in(open));
}

TEST(ImportNginx, ChangesFields) {
    auto done = site("",
                     "add_header X-Frame-Options DENY always; add_header X-Cache "
                     "$upstream_cache_status; proxy_hide_header X-Powered-By; "
                     "proxy_set_header Accept-Encoding \"\"; proxy_set_header X-App one; "
                     "proxy_set_header X-Real-IP $remote_addr;");
    auto& rule = done.json["rules"][0];
    EXPECT_EQ(rule["response_fields"]["add"]["X-Frame-Options"], "DENY");
    EXPECT_EQ(rule["response_fields"]["remove"], Json::parse(R"(["X-Powered-By"])"));
    EXPECT_EQ(rule["request_fields"]["remove"], Json::parse(R"(["Accept-Encoding"])"));
    EXPECT_EQ(rule["request_fields"]["set"]["X-App"], "one");
    EXPECT_THAT(done.remarks, HasSubstr("proxy_set_header X-Real-IP"));
    expect_valid(done);
}

TEST(ImportNginx, LimitsClients) {
    auto done = nginx(
        "limit_req_zone $binary_remote_addr zone=r:10m rate=10r/s;\n"
        "limit_conn_zone $binary_remote_addr zone=c:10m;\n"
        "limit_req_zone $server_name zone=s:10m rate=5r/s;\n"
        "server { listen 80; limit_req zone=r burst=20 nodelay; limit_conn c 8;\n"
        "limit_req zone=s;\n"
        "location / { proxy_pass http://a; proxy_set_header Host $host; } }");
    auto& limits = done.json["clients"]["limits"]["per_address"];
    EXPECT_EQ(limits["requests"], 10);
    EXPECT_EQ(limits["burst"], 21);
    EXPECT_EQ(limits["connections"], 8);
    EXPECT_EQ(done.warnings, 1u) << done.remarks;
}

TEST(ImportNginx, ListsWhatHasNoSetting) {
    auto done = site("gzip on; client_max_body_size 1g; frobnicate 1;", "rewrite ^/a /b;");
    EXPECT_THAT(done.remarks, HasSubstr("nginx.conf:4: gzip on: "));
    EXPECT_THAT(done.remarks, HasSubstr("client_max_body_size 1g: let the origin"));
    EXPECT_THAT(done.remarks, HasSubstr("frobnicate 1: hearsay has no setting"));
    EXPECT_THAT(done.remarks, HasSubstr("nginx.conf:5: rewrite ^/a /b: "));
    EXPECT_THAT(done.remarks, Not(HasSubstr("W ")));
}

TEST(ImportNginx, NamesEveryConditionAndTheHostThatTheOriginGets) {
    auto done = nginx(
        "server { listen 80;\nif ($scheme = http) { set $x 1; }\n"
        "location / {\nproxy_pass http://a; proxy_ssl_certificate /c.pem; } }");
    EXPECT_THAT(done.remarks, HasSubstr("nginx.conf:2: if ($scheme = http): "));
    EXPECT_THAT(done.remarks,
                HasSubstr("nginx.conf:4: proxy_pass http://a: the origin gets the Host"));
    EXPECT_THAT(done.remarks, HasSubstr("proxy_ssl_certificate /c.pem: "));
}

TEST(ImportNginx, TakesTheTargetBehindFilesForAllRequests) {
    auto done = nginx(
        "server { listen 80; server_name a.example; root /srv;\n"
        "location / { try_files $uri @app; }\n"
        "location @app { proxy_pass http://10.0.0.5; proxy_set_header Host $host; } }");
    EXPECT_EQ(done.json["origins"][0]["url"], "http://10.0.0.5") << done.text;
    EXPECT_THAT(done.remarks, HasSubstr("hearsay serves no files; @app gets all requests"));
}

}  // namespace import_nginx_test
}  // namespace app
