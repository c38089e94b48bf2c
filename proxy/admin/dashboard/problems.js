// Finds what is wrong, from what the node reports. A pure function: no element, no clock, no request.
import {amount, bytes, count, isNumber, lasting, milliseconds, percent, ratio} from './dom.js';
import {DISK_STATES, httpAdvice, LINK_REASONS, LINK_STATES, NODE_STATES, ORIGIN_REASONS} from './words.js';

const ERROR = 'error', WARNING = 'warning', NOTE = 'note';
const RANK = {[ERROR]: 0, [WARNING]: 1, [NOTE]: 2};
const NAMED = 6;  // names in one sentence
const LATELY = 3600;  // seconds for which an error of a disk is told
const FEW_ANSWERS = 20, FAILING = 0.1;  // as is_failing() of the node has them
const GONE = new Set(['down', 'silent', 'refused']);  // nodes whose report, if any, is old

function names(list) {
    const shown = list.slice(0, NAMED).join(', ');
    return list.length > NAMED ? `${shown} and ${count(list.length - NAMED)} more` : shown;
}

/// " for 3 m": the longest of these times, of which some may be unknown.
function lastingSince(times) {
    const known = times.filter((time) => time >= 1);
    return known.length === 0 ? '' : ` for ${times.length > 1 ? 'up to ' : ''}${lasting(Math.max(...known))}`;
}

/// `known`: {nodes, status, recent} as the node answered; each may be null. `recent`: the points of
/// the last minutes. Returns {level, what, todo, key}, the worst first.
export function findProblems({nodes, status, recent}) {
    const found = [];
    const tell = (level, key, what, todo) => found.push({level, key, what, todo});
    const own = new Map();  // the links of this node, with their causes
    for (const peer of status?.cluster?.peers || []) own.set(peer.node, peer);
    ofNodes(nodes, own, tell);
    ofLinks(nodes, own, tell);
    if (status) {
        ofPeers(status, tell);
        ofDisks(status, tell);
        ofOrigins(status, tell);
        ofAnswers(status.upstream?.answers || [], tell);
        ofLeaving(status.upstream?.leaving_redirects || [], tell);
        ofBlocklists(status.blocklists?.lists || [], tell);
        ofProcess(status, tell);
    }
    ofTraffic(recent || [], tell);
    return found.sort((a, b) => RANK[a.level] - RANK[b.level]);
}

/// What the page has judged when it has found nothing. Nodes of earlier builds report nothing about
/// disks and origins.
export function allClear(nodes) {
    const unjudged = nodes.nodes.filter((node) => !node.origins).map((node) => node.node);
    const judged = 'No problem is known: all nodes are ready, all links are in step';
    return unjudged.length ? `${judged.replace(', all links', ', and all links')}. Disks and origins were not judged for ${names(unjudged)}.`
                           : `${judged}, and no node reports trouble with its disks or origins.`;
}

/// "2 faults, 1 warning", or nothing.
export function tally(problems) {
    return [[ERROR, 'fault'], [WARNING, 'warning'], [NOTE, 'note']]
        .map(([level, noun]) => [problems.filter((each) => each.level === level).length, noun])
        .filter(([number]) => number > 0).map(([number, noun]) => amount(number, noun)).join(', ');
}

/// A setting that differs, in place of a process or a network that is away or disturbed: the link tells it.
const differs = (detail) => detail && detail.state !== 'in_step' && LINK_REASONS[detail.last_error] &&
    !AWAY.has(detail.last_error);
const AWAY = new Set(['connection_refused', 'connect_timeout', 'resolve_failed', 'resolve_timeout', 'resolver_busy', 'hello_timeout',
                      'timed_out', 'peer_silent', 'peer_not_reading', 'connection_closed', 'frame_too_large', 'frame_too_short',
                      'unknown_frame', 'unexpected_frame', 'malformed_frame', 'malformed_summary', 'bad_tag', 'bad_sequence',
                      'too_many_links', 'too_many_shapes', 'too_many_peers', 'out_of_memory']);

function ofNodes(nodes, own, tell) {
    if (!nodes) return;
    const byState = new Map(), ages = new Map(), versions = new Map(), lists = {faulty: [], down: [], slow: [], failing: []};
    for (const node of nodes.nodes) {
        if (node.state !== 'ready' && !differs(own.get(node.node))) {
            push(byState, node.state, node.node);
            push(ages, node.state, node.state_seconds);
        }
        if (node.version) push(versions, node.version, node.node);
        if (node.self || GONE.has(node.state)) continue;
        if (node.disk?.faulty > 0) lists.faulty.push(node.node);
        for (const trouble of ['down', 'slow', 'failing'])
            if (node.origins?.[trouble] > 0) lists[trouble].push(node.node);
    }
    for (const [state, list] of byState) {
        const [words, todo] = NODE_STATES[state] || [state, ''];
        const causes = new Set(list.map((node) => LINK_REASONS[own.get(node)?.last_error]?.[0]).filter(Boolean));
        tell(GONE.has(state) ? ERROR : state === 'no_report' ? NOTE : WARNING, `node ${state}`,
             `${list.length === 1 ? 'Node' : 'Nodes'} ${names(list)}: ${words}${lastingSince(ages.get(state))}. ${[...causes].join(' ')}`, todo);
    }
    if (versions.size > 1)
        tell(NOTE, 'versions', 'The nodes run different versions: ' +
             [...versions].map(([version, list]) => `${version} (${names(list)})`).join(', ') + '.',
             'Finish the upgrade: docs/howto/upgrade.md.');
    if (lists.faulty.length)
        tell(WARNING, 'faulty disks', `A disk of ${names(lists.faulty)} is stalled, paused or off, or had errors in the last hour.`,
             'Open the dashboard of that node: “Disks, memory, limits” names the error.');
    if (lists.down.length + lists.slow.length)
        tell(lists.down.length ? ERROR : WARNING, 'origins of others',
             `The origins of ${names([...new Set([...lists.down, ...lists.slow])])} are slow or down.`,
             'Open the page of that node: it names the origins.');
    if (lists.failing.length)
        tell(WARNING, 'answers of others', `The origins of ${names(lists.failing)} answer with many errors (5xx or 429).`,
             'Open the page of that node: it names the sites.');
}

/// One problem for each state of links and its reason. A node that is away explains its links itself.
/// The status of this node names the reason.
function ofLinks(nodes, own, tell) {
    if (!nodes) return;
    const self = nodes.nodes.find((node) => node.self);
    const absent = new Set(nodes.nodes.filter((node) => GONE.has(node.state)).map((node) => node.node));
    const groups = new Map();
    for (const node of nodes.nodes) {
        if (absent.has(node.node)) continue;  // its report is old
        for (const link of node.links || []) {
            const detail = own.get(link.peer);
            if (link.state === 'in_step' || absent.has(link.peer) && !differs(detail)) continue;
            const error = detail && link.peer !== self?.node && detail.state === link.state ? detail.last_error : '';
            push(groups, `${link.state}\n${error || ''}`, {node: node.node, peer: link.peer, detail: node.self ? detail : null});
        }
    }
    for (const [key, list] of groups) {
        const [state, error] = key.split('\n');
        const [words, meaning, todo] = LINK_STATES[state] || [state, '', ''];
        const from = [...new Set(list.map((each) => each.node))], to = [...new Set(list.map((each) => each.peer))];
        const reason = LINK_REASONS[error];
        const level = ['hello', 'waiting_snapshot', 'withdrawn'].includes(state) ? NOTE : ERROR;
        if (reason && self && own.size > 1 && differs({state, last_error: error}) &&
            [...own.keys()].every((peer) => to.includes(peer))) {
            tell(level, `link ${key}`, `All peers refuse this node (${self.node}): ${reason[0]} The setting of this node is probably the odd one.`, reason[1]);
            continue;
        }
        const causes = reason ? [] : [...new Set(list.map((each) => each.detail?.cause).filter(Boolean))].slice(0, NAMED);
        const cause = causes.map((each) => ' ' + sentence(each)).join('');
        tell(level, `link ${key}`,
             `${from.length === 1 ? 'Node' : 'Nodes'} ${names(from)}: the ${to.length === 1 ? 'link' : 'links'} with ${names(to)} ` +
             `${to.length === 1 ? 'is' : 'are'} “${words}”${lastingSince(list.map((each) => each.detail?.state_seconds))}. ${reason ? reason[0] : meaning}${cause}` +
             (error && !reason && !cause.includes(error) ? ` Last error: ${error}.` : ''), reason ? reason[1] : todo);
    }
}

function ofPeers(status, tell) {
    const cluster = status.cluster || {};
    for (const peer of cluster.peers || []) {
        const wasted = ratio(peer.false_hits, peer.asked);
        if (peer.asked >= 200 && wasted > 0.1)
            tell(WARNING, `false ${peer.node}`,
                 `${percent(wasted)} of the requests to ${peer.node} were false hits: its summary promised what it lacks.`,
                 !(peer.evicted > 0 || peer.collisions > 0) ? 'Why is not known yet: hearsay explain tells what it promises and has of one URL.'
                     : peer.evicted > peer.collisions
                     ? 'It drops content soon after it has announced it: where it evicts, give it more memory or a disk; where lifetimes end or purges come, nothing is wrong.'
                     : 'Its filter is too small: lower summary.false_hit_budget of that node.');
        const waits = peer.last_http_error === 'head_timeout' && peer.round_trip_seconds > leastWait(cluster);
        if (peer.state === 'in_step' && peer.last_http_error && peer.last_http_error_seconds < 600 && !waits)
            tell(ratio(peer.failures, peer.asked) > FAILING || !peer.hits ? WARNING : NOTE, `http ${peer.node}`,
                 `A request to ${peer.node} failed ${lasting(peer.last_http_error_seconds)} ago: ${peer.last_http_error}` +
                 (peer.asked > 0 ? ` (${count(peer.failures)} of ${count(peer.asked)} failed so far).` : '.'), httpAdvice(peer));
        const failed = peer.last_http_error && peer.last_http_error_seconds < 60;
        if (peer.left_alone_seconds > 0)
            tell(WARNING, `alone ${peer.node}`,
                 `${peer.node} gets no requests for ${lasting(Math.ceil(peer.left_alone_seconds))}: ` +
                 (failed ? `its last requests failed (${peer.last_http_error}).` : 'its summary mostly promised what it lacks.'),
                 failed ? httpAdvice(peer) : 'The next requests show whether it lasts: “false hits” of its link counts them.');
    }
    ofClocks(status.node, cluster.peers || [], tell);
    farPeers(cluster, status.upstream || {}, tell);
    for (const name of cluster.names || [])
        if (name.trouble)
            tell(WARNING, `name ${name.dns}`, `The look-up of ${name.dns} failed: ${name.trouble}.`, 'Look at the DNS.');
    for (const place of cluster.unanswered || [])
        tell(WARNING, `place ${place}`, `No node answers at ${place}.`, 'Start the node there, or correct the DNS record.');
    for (const node of cluster.unplaced || [])
        tell(WARNING, `room ${node}`, `There is no room for the listed peer ${node}.`, 'Raise cluster.max_peers.');
}

/// As clock_words() of the program has it.
function ofClocks(self, peers, tell) {
    const APART = 2;  // seconds
    const known = peers.filter((peer) => isNumber(peer.clock_ahead_seconds));
    if (known.length === 0) return;
    const all = known.map((peer) => peer.clock_ahead_seconds), least = Math.min(...all), most = Math.max(...all);
    const name = (node, ahead, than) => tell(WARNING, `clock ${node}`,
        `The clock of ${node} is ${lasting(Math.round(Math.abs(ahead)))} ${ahead > 0 ? 'ahead of' : 'behind'} ${than}.`,
        `Set it (timedatectl, chronyc). Until then a clock that is ahead makes answers of origins old as they arrive, and the times in logs and purges of that node differ.`);
    if (known.length > 1 && most - least <= APART && Math.abs(least) > APART) return name(self, -least, 'those of all its peers');
    for (const peer of known)
        if (Math.abs(peer.clock_ahead_seconds) > APART) name(peer.node, peer.clock_ahead_seconds, `that of ${self}`);
}

/// The least time, in seconds, after which a peer is too far or gets no more patience.
const leastWait = (cluster) => Math.min(...(cluster.origins || [])
    .flatMap((origin) => [origin.peer_limit_seconds, origin.peer_budget_seconds]).filter((wait) => wait > 0));

function farPeers(cluster, upstream, tell) {
    if (!upstream.peers_too_far) return;
    const limits = (cluster.origins || []).filter((each) => each.peer_limit_seconds > 0)
        .sort((a, b) => a.peer_limit_seconds - b.peer_limit_seconds);
    const peers = cluster.peers || [];
    const far = peers.filter((peer) => limits.length && peer.round_trip_seconds > limits[0].peer_limit_seconds);
    const todo = 'If it should be near, look at the network and at its load. If it is far by design, nothing is wrong.';
    const times = upstream.peers_too_far === 1 ? 'once' : `${count(upstream.peers_too_far)} times`;
    if (far.length === 0) {
        tell(NOTE, 'far', `This node did not ask peers that had the content, as the origin answers so much sooner (${times} so far).`, todo);
        return;
    }
    const time = (peer) => milliseconds(1000 * peer.round_trip_seconds);
    const origin = milliseconds(1000 * limits[0].answer_seconds);
    const level = far.some((peer) => !peer.hits) ? WARNING : NOTE;
    const one = far.length === 1, who = far.slice(0, NAMED).map((peer) => `${peer.node} (${time(peer)})`).join(', ');
    const rest = `while the origin answers in ${origin}. So this node does not ask ${one ? 'it' : 'them'} (${times} so far).`;
    if (far.length === peers.length && !one)
        tell(level, 'far', `This node is far from all its peers: ${who}, ${rest}`, todo.replace('If it should', 'If this node should').replace('its load', 'the load').replace('If it is', 'If this node is'));
    else if (one)
        tell(level, 'far', `${far[0].node} is far away: ${time(far[0])} there and back, ${rest}`, todo.replace('If it should', `If ${far[0].node} should`));
    else
        tell(level, 'far', `Peers are far away: ${who} there and back, ${rest}`, todo.replace('If it should', 'If they should').replace('its load', 'their load').replace('If it is', 'If they are'));
}

/// The directory had an error in the last hour, in whatever state it is now.
export const hadErrorLately = (disk) => Boolean(disk.last_error) && isNumber(disk.last_error_seconds) && disk.last_error_seconds < LATELY;

function ofDisks(status, tell) {
    for (const disk of status.cache?.disk || []) {
        const [words, meaning, todo] = DISK_STATES[disk.state] || [disk.state, '', ''];
        const lately = hadErrorLately(disk);
        if (lately && disk.last_error_is_full && disk.state !== 'off') {
            const lost = (disk.failed || 0) + (disk.refused_paused || 0);
            tell(WARNING, `disk ${disk.path}`,
                 `The file system of ${disk.path} is full: the node uses ${bytes(disk.bytes)} of the ${bytes(disk.cap_bytes)} of cache.disk, ` +
                 `and ${amount(lost, 'response')} ${lost === 1 ? 'was' : 'were'} not written.`,
                 'Make room on the file system, or lower cache.disk[].size to what it has.');
        } else if (lately && disk.state === 'ready') {
            tell(WARNING, `disk ${disk.path}`, `The disk ${disk.path} had errors in the last hour; it works again. The last one, ${lasting(disk.last_error_seconds)} ago: ${sentence(disk.last_error)}`,
                 'Look at the device and at the log: docs/howto/disk.md.');
        } else if (disk.state !== 'ready') {
            tell(disk.state === 'loading' ? NOTE : ERROR, `disk ${disk.path}`,
                 `The disk ${disk.path} is ${words}. ${meaning}` +
                 (disk.last_error ? ` The error, ${lasting(disk.last_error_seconds)} ago: ${sentence(disk.last_error)}` : ''), todo);
        }
    }
}

/// `sites`: the answers of the origin of each site.
function ofAnswers(sites, tell) {
    for (const {site, fault, last_5m: last = {}} of sites) {
        if (fault) {
            tell(ERROR, `fault ${site}`, sentence(fault.text), ORIGIN_REASONS[fault.state === 'server_error' ? 'server_error' : fault.reason] || ORIGIN_REASONS.other);
            continue;
        }
        const errors = last.server_errors || 0, refusals = last.too_many_requests || 0;
        const share = ratio(errors + refusals, last.answers);
        if (!(last.answers >= FEW_ANSWERS && share > FAILING)) continue;
        const kinds = [errors && '5xx', refusals && '429'].filter(Boolean).join(' or ');
        tell(WARNING, `answers ${site}`, `${Math.round(100 * share)} % of the answers of ${originOf(site)} were ${kinds} in the last five minutes.`,
             'Look at the log and the load of the origin. The rule setting stale_if_error, with stale_on for 429, lets stored responses stand in.');
    }
}

/// Redirects of mirrored origins to hosts that no mirror covers.
function ofLeaving(redirects, tell) {
    for (const {site, host, last_hour: number} of redirects)
        tell(WARNING, `leaving ${site} ${host}`,
             `The origin of ${site} redirects clients to ${host} past the cache: ${count(number)} in the last hour.`,
             `Add ${host} to origins with a name of its own (public), or let the rule follow redirects: docs/howto/recipes.md.`);
}

function ofBlocklists(lists, tell) {
    for (const list of lists)
        if (list.fault)
            tell(ERROR, `blocklist ${list.path}`, `A blocklist was not renewed, so its former state counts: ${sentence(list.fault)}`,
                 'Look at the file and at the tool that writes it. All lists are read anew when it has changed.');
}

const originOf = (site) => site === 'forward' ? 'the targets of the forward proxy' : `the origin of ${site}`;

/// As server_faults() of the program has it.
function ofGroups(servers, tell) {
    const groups = new Map();
    for (const server of servers) push(groups, server.group, server);
    for (const [group, all] of groups) {
        const down = all.filter((server) => server.state === 'down').map((server) => server.server);
        if (down.length === all.length)
            tell(ERROR, `group ${group}`, all.length === 1 ? `The only server of ${group}, ${down[0]}, is down.` : `No server of ${group} is up: ${names(down)}.`,
                 `Look at ${all.length === 1 ? 'that server' : 'these servers'} and at the way there. Until one answers, clients get stored content or errors.`);
        else
            for (const server of down)
                tell(ERROR, `server ${group} ${server}`, `The server ${server} of ${group} is down.`, 'Look at that server. The others of its group get its requests.');
    }
}

function ofOrigins(status, tell) {
    const upstream = status.upstream || {};
    if (upstream.origins_down > 0 && !(upstream.answers || []).some((each) => each.fault))
        tell(ERROR, 'origins down', `${amount(upstream.origins_down, 'origin')} left the last three requests unanswered (summed over worker threads).`,
             'Look at the origin and the way there. One request tries again every 1 to 3 s; the Log names the origin.');
    ofGroups(status.upstreams || [], tell);
    for (const origin of status.cluster?.origins || [])
        if (origin.answer_seconds > 1)
            tell(WARNING, `slow ${origin.origin}`, `${origin.origin === 'forward' ? 'A target of the forward proxy' : `The origin ${origin.origin}`} takes ${milliseconds(1000 * origin.answer_seconds)} to answer.`,
                 'It is overloaded or far. Longer lifetimes, stale-while-revalidate, or more servers (origins[].upstreams) take load from it.');
}

function ofProcess(status, tell) {
    const config = status.config || {}, process = status.process || {};
    if (config.last_error)
        tell(ERROR, 'reload', `The last reload was refused: ${sentence(config.last_error)} The old configuration stays.`,
             'Correct the file (hearsay check FILE), and reload.');
    for (const warning of config.warnings || [])
        tell(NOTE, `warning ${warning}`, `The configuration: ${warning.trim().replace(/\.?$/, '.')}`,
             'Change the setting and reload, or leave it if it is meant.');
    if (process.max_fds > 0 && process.open_fds > 0.8 * process.max_fds)
        tell(WARNING, 'descriptors', `${count(process.open_fds)} of ${count(process.max_fds)} file descriptors are open.`,
             'Raise the limit of open files (LimitNOFILE).');
    if (status.internal_errors > 0)
        tell(WARNING, 'internal', `${amount(status.internal_errors, 'unexpected error')} since the start.`, 'Report it with the log.');
    if (status.log_dropped > 0 || status.log_failed > 0)
        tell(WARNING, 'access log', `Lost: ${amount((status.log_dropped || 0) + (status.log_failed || 0), 'line')} of the access log.`,
             'Look at the disk of the log, or at its reader.');
    for (const certificate of status.tls?.certificates || [])
        if (certificate.expiry_seconds < 14 * 86400)
            tell(certificate.expiry_seconds < 0 ? ERROR : WARNING, `certificate ${certificate.file}`,
                 certificate.expiry_seconds < 0 ? `The certificate ${certificate.file} has expired.`
                     : `The certificate ${certificate.file} expires in ${lasting(certificate.expiry_seconds)}.`,
                 'Renew it: docs/howto/certificates.md.');
}

/// `points`: intervals of the history of the last five minutes.
function ofTraffic(points, tell) {
    let all = 0, errors = 0, refused = 0, slow = 0, slowest = 0;
    for (const point of points) {
        for (const number of Object.values(point.requests || {})) all += number;
        errors += point.requests?.error || 0;
        refused += point.refused || 0;
        const wait = point.p50_ms?.origin_fetch || 0;
        if (wait > 1000) slow++;
        slowest = Math.max(slowest, wait);
    }
    if (all >= 20 && ratio(errors, all) > 0.02)
        tell(ratio(errors, all) > 0.2 ? ERROR : WARNING, 'errors', `${percent(ratio(errors, all))} of the requests of the last five minutes were errors.`,
             'The Log names the causes.');
    if (refused > 0)
        tell(NOTE, 'refused', `Requests or connections refused in the last five minutes: ${count(refused)}.`,
             '“Disks, memory, limits” counts them by reason.');
    if (slow >= 3)
        tell(WARNING, 'slow fetches', `Half of the origin fetches took up to ${milliseconds(slowest)} in the last five minutes.`,
             'Look at the origin: “Traffic” lists how fast each one answers.');
}

function push(map, key, value) {
    if (!map.has(key)) map.set(key, []);
    map.get(key).push(value);
}

const sentence = (text) => text.trim().replace(/\.?$/, '.').replace(/^./, (first) => first.toUpperCase());
