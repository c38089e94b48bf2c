#pragma once

#include <string>

namespace app {

/// The answers of a node `a` with the peers `b`, which is ready, and `c`, which is down.
inline const std::string kTopNodes = R"({"node": "a", "version": "0.1.0", "now": 1, "nodes": [
  {"node": "a", "self": true, "state": "ready", "age_seconds": 0.0, "version": "0.1.0",
   "uptime_seconds": 7300.0, "requests": {"local_hit": 600, "peer_hit": 200, "origin_fetch": 150,
   "uncacheable": 40, "error": 10}, "saved": {"from_memory_bytes": 1048576, "from_peers_bytes": 1048576,
   "from_origins_bytes": 5, "to_clients_bytes": 7}, "objects": 41000,
   "memory": {"bytes": 50, "cap_bytes": 100}, "disk": {"bytes": 0, "cap_bytes": 0, "faulty": 0},
   "summary": {"fill": 0.2, "expected_error": 0.002}, "errors_5m": 2,
   "links": [{"peer": "b", "state": "in_step", "hits": 123, "given": 7},
             {"peer": "c", "state": "gone", "hits": 77, "given": 0}]},
  {"node": "b", "self": false, "state": "ready", "age_seconds": 2.0, "requests": {"local_hit": 1000,
   "peer_hit": 0, "origin_fetch": 0, "uncacheable": 0, "error": 0}, "objects": 5,
   "links": [{"peer": "a", "state": "in_step", "hits": 45678, "given": 123}]},
  {"node": "c", "self": false, "state": "down", "age_seconds": 900.0, "links": []}]})";

inline const std::string kTopHistory = R"({"span": "15m", "interval_seconds": 5, "points": [
  {"t": 5, "requests": {"local_hit": 1}},
  {"t": 10, "requests": {"local_hit": 500, "peer_hit": 100, "origin_fetch": 50, "uncacheable": 0,
   "error": 0}, "p50_ms": {"local_hit": 0.2, "peer_hit": 2.5, "origin_fetch": null},
   "p99_ms": {"local_hit": 1.4, "peer_hit": 11.0, "origin_fetch": null}}]})";

inline const std::string kTopUrls =
    R"({"urls": [{"url": "http://h/most", "requests": 9000, "at_most_too_many": 1},
                 {"url": "http://h/\u001b[31mred", "requests": 2, "at_most_too_many": 0}], "clients": null})";

}  // namespace app
