// The words of `hearsay status` with their meaning, and what to do. The texts agree with
// docs/howto/troubleshoot.md and docs/reference/.

export const OUTCOMES = ['local_hit', 'peer_hit', 'origin_fetch', 'uncacheable', 'error', 'refused'];
export const OUTCOME_NAMES = {
    local_hit: 'local hit', peer_hit: 'peer hit', origin_fetch: 'origin fetch',
    uncacheable: 'uncacheable', error: 'error', refused: 'refused',
};

/// State of a node: [words, what to do].
export const NODE_STATES = {
    ready: ['ready', ''],
    not_ready: ['not ready', 'The node started just now, and waits for its peers. It is ready after two seconds at most.'],
    draining: ['draining', 'The node leaves: it finishes its requests and ends.'],
    no_report: ['no report yet', 'The node is linked, and its first report is under way. An earlier version of the program sends none: upgrade it.'],
    refused: ['refused', 'The node runs, but the two nodes refuse each other; it serves alone.'],
    silent: ['silent', 'The node has sent no report for 15 s. Look at its process, its machine and the network.'],
    down: ['down', 'No link to the node is up. Look at its process, its machine and the network.'],
};

/// State of a link: [words, meaning, what to do].
export const LINK_STATES = {
    in_step: ['in step', 'Its summary is current, so it may be asked.', ''],
    connecting: ['connecting', 'The peer has made no link to this node yet.',
                 'Check that the peer runs, that it lists this node, and that it can reach cluster.listen here.'],
    hello: ['hello', 'The link is being set up.', 'Wait. A state of minutes points to a lossy network.'],
    waiting_snapshot: ['waiting for a snapshot', 'Its summary is on its way.',
                       'Wait. A state of minutes points to a lossy network.'],
    behind: ['behind', 'It has yet to confirm purges that it missed while it was away.',
             'Wait. If it lasts, the disk of the peer may hang: look at its own dashboard.'],
    no_address: ['no address', 'Its summary is current, but its http address is unknown.',
                 'Give DNS a record for the address in the cause, or list the peer.'],
    one_way: ['one way', 'The link to the peer is up; the peer cannot make its own link.',
              'Correct the link address that the peer has for this node, or the firewall.'],
    withdrawn: ['withdrawn', 'The peer drains or has stopped.', 'Start it again, or remove it from cluster.peers.'],
    gone: ['gone', 'The link broke, or the peer fell silent.', 'Look at its process, its machine and the network.'],
    refused: ['refused', 'One of the two nodes refused the other.', 'The reason says which setting differs.'],
};

const NONSENSE = ['The two nodes do not understand each other.', 'Upgrade the older node; if both are alike, report it with the log.'];

/// Reason why a link ended or was refused: [cause, what to do]. Ordinary ends have none.
export const LINK_REASONS = {
    wrong_key: ['The cluster keys differ.', 'Give both nodes the same cluster.key, and restart the one that changes.'],
    bad_proof: ['The cluster keys differ.', 'Give both nodes the same cluster.key, and restart the one that changes.'],
    other_hash_key: ['The last cluster key differs: a rotation is under way.', 'Finish the rotation on all nodes: docs/howto/key-rotation.md.'],
    rules_differ: ['The rules that change keys differ.', 'Give all nodes the same list of rules, and reload.'],
    unknown_node: ['The configuration of the peer does not list this node.', 'Add this node to cluster.peers of the peer, and reload it.'],
    wrong_node: ['The node at this address has another name.', 'Correct the name or the address in cluster.peers.'],
    duplicate_id: ['Two running nodes have one name.', 'Give each node a name of its own (node).'],
    own_id: ['The address leads to this node itself.', 'Correct the address in cluster.peers.'],
    not_encrypted: ['One of the nodes does not encrypt.', 'Upgrade both nodes, or set cluster.allow_clear for the time of the upgrade.'],
    encrypted: ['One of the nodes does not encrypt.', 'Upgrade both nodes, or set cluster.allow_clear for the time of the upgrade.'],
    tls_failed: ['The TLS handshake failed.', 'Check that both nodes have the same key and encrypt alike.'],
    wrong_version: ['The peer runs another version of the program.', 'Upgrade the older node: docs/howto/upgrade.md.'],
    unknown_kind: ['The peer uses a kind of summary that this version lacks.', 'Upgrade the older node: docs/howto/upgrade.md.'],
    peers_full: ['The peer has reached its cluster.max_peers.', 'Raise cluster.max_peers there.'],
    shape_refused: ['The summary of the peer is too large.', 'Give the peer less disk: a summary has 256 MiB at most.'],
    summary_too_large: ['The summary of the peer is too large.', 'Give the peer less disk: a summary has 256 MiB at most.'],
    refused: ['The peer refuses this node for a reason that this version does not know.', 'Upgrade this node: docs/howto/upgrade.md.'],
    bad_name: ['The name of one node is not valid.', 'Give it a name of letters, digits, dots, dashes and underscores (node).'],
    connection_refused: ['Nothing listens at its link address.', 'Start the peer, or correct its address.'],
    connect_timeout: ['Its link address does not answer.', 'Check the machine, the address and the firewall.'],
    resolve_failed: ['Its name has no address.', 'Correct the name, or the DNS.'],
    resolve_timeout: ['No name server said in time where it is.', 'Look at the name servers of this machine.'],
    resolver_busy: ['Too many names are being looked up at once.', 'Look at the name servers of this machine.'],
    hello_timeout: ['It took the connection, and then said too little.', 'Look at its load, and whether another server listens there.'],
    timed_out: ['It did not answer in time.', 'Look at its load and at the network.'],
    peer_silent: ['It fell silent.', 'Look at its process, its machine and the network.'],
    peer_not_reading: ['It stopped reading.', 'Look at its load and at the network.'],
    connection_closed: ['It closed the connection.', 'Look at its log.'],
    frame_too_large: [...NONSENSE], frame_too_short: [...NONSENSE], unknown_frame: [...NONSENSE],
    unexpected_frame: [...NONSENSE], malformed_frame: [...NONSENSE], malformed_summary: [...NONSENSE],
    bad_tag: ['Its frames were changed on the way, or the keys differ.', 'Look for a device in between, and compare the keys.'],
    bad_sequence: ['Frames were lost or repeated on the way.', 'Look for a device in between.'],
    too_many_links: ['It makes more connections than it needs.', 'Look at its log.'],
    too_many_shapes: ['It changes the size of its summary too often.', 'Give it a larger cache, or look at its log.'],
    too_many_peers: ['This node has reached its cluster.max_peers.', 'Raise cluster.max_peers here.'],
    out_of_memory: ['Memory ran out for its message.', 'Give this machine more memory, or the node a smaller cache.'],
};

/// Reason of a failed peer request: what to do. Of two texts the first is for a peer that has never
/// answered, the second for one that has.
const TRY = 'hearsay check --peers tries its ports, and says what is wrong.';
export const HTTP_REASONS = {
    not_a_peer: 'Another server answers at its http port. Correct the http port in cluster.peers.',
    tls_failed: [`Often a wrong http port: another server answers there. ${TRY}`,
                 `It has answered before: look whether its key, its cluster.encrypt or what listens there has changed. ${TRY}`],
    head_timeout: [`It has never answered: a wrong http port, or an overloaded peer. ${TRY}`,
                   'It answers too slowly at times: look at its load, its disk and the network. The origin is asked in its place.'],
    body_timeout: 'It stopped inside a body: look at its load, its disk and the network.',
    connect_failed: `The peer is down, listens at another port, or a firewall closes this one. ${TRY}`,
    connect_timeout: 'Its http address does not answer: look at the machine, the address and the firewall, and at its load.',
    resolve_failed: 'The name in its http address has no address: correct the name, or the DNS.',
    resolve_timeout: 'No name server said in time where it is: look at the name servers of this machine.',
    reset: [`It closes the connection: another server, or a port that wants a PROXY header (clients.proxy_protocol). ${TRY}`,
            'It closed the connection: it was restarted, or something in between ends connections. Look at its log.'],
    busy: 'All limits.upstream_connections of this node to it are in use: raise the limit, or look why answers take so long.',
    no_descriptors: 'This node has no descriptor left: raise its limit of open files (LimitNOFILE).',
    unusable: `This node may not use what came: rules or cache settings of the two nodes differ, or another server or a proxy answers at that port. ${TRY}`,
};
/// What to do about a peer with this last failure.
export function httpAdvice(peer) {
    const advice = HTTP_REASONS[peer.last_http_error] ?? TRY;
    const answers = ['hits', 'false_hits', 'stale_hits', 'refused', 'too_old'].reduce((sum, name) => sum + (peer[name] || 0), 0);
    return Array.isArray(advice) ? advice[answers > 0 ? 1 : 0] : advice;
}

export const DISK_STATES = {
    loading: ['loading', 'Files of an earlier run are still being read.', ''],
    ready: ['ready', '', ''],
    stalled: ['stalled', 'A call to the device has not returned for ten seconds; content on it is fetched again.',
              'Look at the device and its driver: the log of the kernel names it.'],
    paused: ['paused', 'Writes stop for a while after an error or on a full file system; reads continue.',
             'Make room on the file system, or lower the size of cache.disk.'],
    off: ['off', 'Five errors came within a minute, or the directory is gone or read-only.',
          'Repair or replace the device: docs/howto/disk.md. The content is fetched again.'],
};

/// Choice about a peer in an explanation.
export const CHOICES = {
    asked: 'a miss would ask it', no_claim: 'its summary does not contain the key',
    not_in_step: 'its summary is not current, or it cannot be asked',
    in_the_clear: 'the URL is https, and the link is not encrypted',
    left_alone: 'it failed, or mostly answered in vain, and gets no requests for a while',
    too_far: 'the origin answers so much sooner that asking it does not pay',
    others_first: 'two other peers are better',
    just_invalidated: 'no copy could prove that it is younger than the invalidation',
};
export const HAS = {
    has: 'yes, fresh', absent: 'no', stale: 'yes, stale', variant: 'only for other request fields',
    busy: 'not known: busy', draining: 'not known: draining', unknown: 'not known: no answer',
};
export const HERE = {
    fresh: 'stored and fresh', stale: 'stored, but stale: the next use validates it',
    filling: 'arriving now', variant: 'stored for other request fields only (Vary)',
    disk: 'on disk, but not read in time', absent: 'not stored',
};

/// Verdict about storing: [why, what to do].
export const VERDICTS = {
    store: ['It was stored.', ''],
    method: ['Responses to such a method are not stored.', ''],
    interim: ['It was an interim response (1xx).', ''],
    not_modified: ['It was a 304, which confirms a stored response.', ''],
    request_no_store: ['The request said no-store.', 'Nothing: the client wants this.'],
    no_store: ['The origin says no-store.', 'Change Cache-Control at the origin, or set a rule.'],
    private: ['The origin says private: the response is for one client.', 'Send public or s-maxage if everybody may have it.'],
    must_understand: ['The origin says must-understand, and the status is unknown here.', ''],
    authorization: ['The request had Authorization or another credential, or a login of its connection.', 'Send public or s-maxage at the origin, or set authorize or key_fields in a rule. After NTLM or Negotiate nothing is stored.'],
    vary_any: ['Vary contains *, or too many names.', 'Name the request fields that matter in Vary.'],
    bypass: ['A rule lets such requests go past the cache.', 'Change bypass in the rule that explain names.'],
    set_cookie: ['The response sets a cookie.', 'Remove the cookie at the origin, or set cache.store_set_cookie if cookies are not personal.'],
    no_freshness: ['The response has no lifetime.', 'Send Cache-Control: max-age at the origin, or set a lifetime by a rule.'],
    not_reusable: ['The response is stale at once and has no validator.', 'Send a lifetime, or an ETag.'],
    partial: ['The answer depends on a range or a condition.', ''],
    too_large: ['The body is larger than cache.object_max or the room for it.', 'Raise cache.object_max, cache.memory or add a disk.'],
    no_room: ['Memory is full of bodies that slow clients still read.', 'Raise cache.memory, or add a disk.'],
    too_many_tags: ['The response has more than 1,024 tags.', 'Send fewer tags.'],
    invalidated: ['It was purged while it arrived.', ''],
    incomplete: ['The origin broke off inside the body.', 'Look at the log, and at the origin.'],
    aborted: ['All its clients had left.', ''],
    redirect_host: ['The redirect leads to a host that no origin and no rule names, or that is refused.', 'List the host in origins, or in match.hosts of a rule.'],
    redirect_target: ['The redirect has no usable Location, several, or leads from https to http.', 'Look at the Location of the origin.'],
    redirect_cookie: ['The redirect sets a cookie for its client.', 'Add set-cookie to ignore of the rule if the cookie does not matter.'],
    redirect_loop: ['The redirects form a circle, or there are more than five.', 'Look at the Location of the origin.'],
    redirect_failed: ['The target of the redirect did not answer.', 'Look at the log, and at the target.'],
};

/// Reason of a refused request or connection: [meaning, setting or remedy].
export const REFUSALS = {
    malformed: ['The request was not valid HTTP (400).', ''],
    too_large: ['Target or head was too long (414, 431).', ''],
    not_implemented: ['The request needs what the node lacks (501).', ''],
    version: ['Another version of HTTP (505).', ''],
    no_route: ['No entry of origins matches, or forward requests are off (403, 404).', 'origins, forward.enabled'],
    timeout: ['The request came too slowly (408).', 'timeouts'],
    loop: ['The request had passed this node already (508).', 'Look for a circle of proxies.'],
    destination: ['The target is private, a listener, or a closed port (403).', 'forward.private_destinations'],
    forbidden: ['PURGE from an address that may not purge (403).', 'purge.allow'],
    client: ['The address may not use the node (403).', 'clients.allow, clients.deny'],
    forward_client: ['The address may not use the forward proxy (403).', 'forward.clients'],
    upgrade: ['The upgrade is not listed (403).', 'upgrade'],
    too_young: ['The content is younger than min_age of a rule (403).', 'rules'],
    blocklist: ['A blocklist refuses the target (403).', 'forward.blocklists'],
    destination_denied: ['The target is denied (403).', 'forward.destinations'],
    credentials_in_clear: ['A password came over a connection in the clear (403).', 'forward.authentication'],
    no_credentials: ['The client has to name a user (407).', ''],
    wrong_credentials: ['User or password is wrong (407).', ''],
    over_rate: ['The client is above its rate (429).', 'clients.limits'],
    over_connections: ['The client is above its connections (429).', 'clients.limits'],
    over_guesses: ['Too many wrong passwords (429).', ''],
    over_uploads: ['The client has too many unfinished uploads to one site (429).', 'limits.upstream_connections'],
    misdirected: ['Inside a CONNECT, the request is for another host; or it is in the clear for an https site (421).', 'forward.intercept, clients.trusted_proxies'],
    no_certificate: ['No certificate could be made for an intercepted host (503).', 'forward.intercept'],
    unverified: ['Too many passwords wait for a check (503).', ''],
    too_many_connections: ['The node or the address has too many connections.', 'limits.connections, connections_per_address'],
    tls: ['The TLS handshake failed.', ''],
    proxy_header: ['The PROXY header is missing or malformed.', 'clients.proxy_protocol'],
    http2_flood: ['An HTTP/2 client made too much work.', ''],
};

/// What to do when an origin is at fault, by the reason of its last request.
export const ORIGIN_REASONS = {
    resolve_failed: 'Look at the DNS and at the hosts file of this machine; explain shows the addresses.',
    resolve_timeout: 'Look at the name servers of this machine (resolv.conf) and at the way to them.',
    connect_failed: 'Start the origin, or correct host and port in origins[].url; then look at routes and firewalls.',
    connect_timeout: 'Look whether the machine of the origin runs, and at routes and firewalls on the way.',
    tls_failed: 'Look at the certificate of the origin and at the settings of trust; the Log says what was wrong.',
    head_timeout: 'Look at the load and the log of the origin: it takes connections and leaves requests open.',
    server_error: 'Look at the log and the load of the origin. The rule setting stale_if_error lets stored responses stand in.',
    other: 'Look at the origin and the way there; the Log names each failure.',
};
