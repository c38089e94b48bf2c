// Finds what is wrong, from what the node reports. A pure function: no element, no clock, no request.
import {amount, count, lasting, milliseconds, percent, ratio} from './dom.js';
import {DISK_STATES, HTTP_REASONS, LINK_REASONS, LINK_STATES, NODE_STATES} from './words.js';

const ERROR = 'error', WARNING = 'warning', NOTE = 'note';
const RANK = {[ERROR]: 0, [WARNING]: 1, [NOTE]: 2};
const NAMED = 6;  // names in one sentence

function names(list) {
    const shown = list.slice(0, NAMED).join(', ');
    return list.length > NAMED ? `${shown} and ${count(list.length - NAMED)} more` : shown;
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
        ofProcess(status, tell);
    }
    ofTraffic(recent || [], tell);
    return found.sort((a, b) => RANK[a.level] - RANK[b.level]);
}

/// A setting that differs, in place of a process or a network that is away: the link tells it.
const differs = (detail) => detail && detail.state !== 'in_step' && LINK_REASONS[detail.last_error] &&
    !AWAY.has(detail.last_error);
const AWAY = new Set(['connection_refused', 'connect_timeout', 'resolve_failed']);

function ofNodes(nodes, own, tell) {
    if (!nodes) return;
    const byState = new Map(), versions = new Map(), faulty = [];
    for (const node of nodes.nodes) {
        if (node.state !== 'ready' && !differs(own.get(node.node))) push(byState, node.state, node.node);
        if (node.version) push(versions, node.version, node.node);
        if (!node.self && node.disk && node.disk.faulty > 0) faulty.push(node.node);
    }
    for (const [state, list] of byState) {
        const [words, todo] = NODE_STATES[state] || [state, ''];
        const causes = new Set(list.map((node) => LINK_REASONS[own.get(node)?.last_error]?.[0]).filter(Boolean));
        tell(state === 'down' || state === 'silent' ? ERROR : state === 'no_report' ? NOTE : WARNING, `node ${state}`,
             `${list.length === 1 ? 'Node' : 'Nodes'} ${names(list)}: ${words}. ${[...causes].join(' ')}`, todo);
    }
    if (versions.size > 1)
        tell(NOTE, 'versions', 'The nodes run different versions: ' +
             [...versions].map(([version, list]) => `${version} (${names(list)})`).join(', ') + '.',
             'Finish the upgrade: docs/howto/upgrade.md.');
    if (faulty.length)
        tell(WARNING, 'faulty disks', `A disk of ${names(faulty)} is paused or off.`,
             'Open the dashboard of that node: “Disks, memory, limits” names the error.');
}

/// One problem for each peer and state of its links. A node that is away explains its links itself. The
/// status of this node names the cause.
function ofLinks(nodes, own, tell) {
    if (!nodes) return;
    const absent = new Set(nodes.nodes.filter((node) => node.state === 'down' || node.state === 'silent').map((node) => node.node));
    const groups = new Map();
    for (const node of nodes.nodes) {
        if (node.state === 'down' || node.state === 'silent') continue;  // its report is old
        for (const link of node.links || [])
            if (link.state !== 'in_step' && (!absent.has(link.peer) || differs(own.get(link.peer)))) push(groups, `${link.peer}\n${link.state}`, node);
    }
    for (const [key, from] of groups) {
        const [peer, state] = key.split('\n');
        const [words, meaning, todo] = LINK_STATES[state] || [state, '', ''];
        const detail = from.some((node) => node.self) ? own.get(peer) : undefined;
        const reason = detail ? LINK_REASONS[detail.last_error] : undefined;
        const cause = detail && detail.cause ? ` ${sentence(detail.cause)}` : '';
        const error = detail && detail.last_error && !cause.includes(detail.last_error)
            ? ` Last error: ${detail.last_error}, ${lasting(detail.last_error_seconds)} ago.` : '';
        const level = ['hello', 'waiting_snapshot', 'withdrawn'].includes(state) ? NOTE : ERROR;
        tell(level, `link ${key}`,
             `${from.length === 1 ? 'Node' : 'Nodes'} ${names(from.map((node) => node.node))}: the link with ${peer} is “${words}”. ` +
             (reason ? reason[0] : meaning) + cause + error, reason ? reason[1] : todo);
    }
}

function ofPeers(status, tell) {
    const cluster = status.cluster || {};
    for (const peer of cluster.peers || []) {
        const wasted = ratio(peer.false_hits, peer.asked);
        if (peer.asked >= 200 && wasted > 0.1)
            tell(WARNING, `false ${peer.node}`,
                 `${percent(wasted)} of the requests to ${peer.node} were false hits: its summary promised what it lacks.`,
                 peer.evicted > peer.collisions
                     ? 'It evicts quickly: give it more memory or a disk.'
                     : 'Its filter is too small: lower summary.false_hit_budget of that node.');
        if (peer.state === 'in_step' && peer.last_http_error && peer.last_http_error_seconds < 600)
            tell(WARNING, `http ${peer.node}`,
                 `A request to ${peer.node} failed ${lasting(peer.last_http_error_seconds)} ago: ${peer.last_http_error}.`,
                 HTTP_REASONS[peer.last_http_error] || 'hearsay check --peers tries its ports, and says what is wrong.');
        if (peer.left_alone_seconds > 0)
            tell(WARNING, `alone ${peer.node}`,
                 `${peer.node} gets no requests for ${lasting(Math.ceil(peer.left_alone_seconds))}: it failed three times in a row, or mostly answered in vain.`,
                 'Look at the load and the log of that node.');
    }
    farPeers(cluster, status.upstream || {}, tell);
    for (const name of cluster.names || [])
        if (name.trouble)
            tell(WARNING, `name ${name.dns}`, `The look-up of ${name.dns} failed: ${name.trouble}.`, 'Look at the DNS.');
    for (const place of cluster.unanswered || [])
        tell(WARNING, `place ${place}`, `No node answers at ${place}.`, 'Start the node there, or correct the DNS record.');
    for (const node of cluster.unplaced || [])
        tell(WARNING, `room ${node}`, `There is no room for the listed peer ${node}.`, 'Raise cluster.max_peers.');
}

function farPeers(cluster, upstream, tell) {
    if (!upstream.peers_too_far) return;
    const limits = (cluster.origins || []).filter((each) => each.peer_limit_seconds > 0);
    const far = (cluster.peers || []).filter((peer) => limits.some(
        (origin) => peer.round_trip_seconds > origin.peer_limit_seconds));
    const who = far.length ? far.slice(0, NAMED).map(
        (peer) => `${peer.node} (${milliseconds(1000 * peer.round_trip_seconds)})`).join(', ')
                           : 'the peers with the key';
    tell(NOTE, 'far', `Fetches that went past ${who}, because the origin answers so much sooner: ${count(upstream.peers_too_far)}.`,
         'Nothing, if the distance is right. Otherwise look at the network and the load of the peer, or raise cluster.peer_detour.');
}

function ofDisks(status, tell) {
    for (const disk of status.cache?.disk || []) {
        const [words, meaning, todo] = DISK_STATES[disk.state] || [disk.state, '', ''];
        if (disk.state === 'ready') continue;
        tell(disk.state === 'loading' ? NOTE : ERROR, `disk ${disk.path}`,
             `The disk ${disk.path} is ${words}. ${meaning}` +
             (disk.last_error ? ` The error: ${sentence(disk.last_error)}` : ''), todo);
    }
}

function ofOrigins(status, tell) {
    const upstream = status.upstream || {};
    if (upstream.origins_down > 0)
        tell(ERROR, 'origins down', `${amount(upstream.origins_down, 'origin')} left the last three requests unanswered (summed over worker threads).`,
             'Look at the origin and the way there. One request tries again every 1 to 3 s; the Log names the origin.');
    for (const server of status.upstreams || [])
        if (server.state === 'down')
            tell(ERROR, `server ${server.group} ${server.server}`, `The server ${server.server} of ${server.group} is down.`,
                 'Look at that server. The others of its group get its requests.');
    for (const origin of status.cluster?.origins || [])
        if (origin.answer_seconds > 1)
            tell(WARNING, `slow ${origin.origin}`, `The origin ${origin.origin} takes ${milliseconds(1000 * origin.answer_seconds)} to answer.`,
                 'It is overloaded or far. Longer lifetimes, stale-while-revalidate, or more servers (origins[].upstreams) take load from it.');
}

function ofProcess(status, tell) {
    const config = status.config || {}, process = status.process || {};
    if (config.last_error)
        tell(ERROR, 'reload', `The last reload was refused: ${sentence(config.last_error)} The old configuration stays.`,
             'Correct the file (hearsay check FILE), and reload.');
    if (process.max_fds > 0 && process.open_fds > 0.8 * process.max_fds)
        tell(WARNING, 'descriptors', `${count(process.open_fds)} of ${count(process.max_fds)} file descriptors are open.`,
             'Raise the limit of open files (LimitNOFILE).');
    if (status.internal_errors > 0)
        tell(WARNING, 'internal', `${amount(status.internal_errors, 'unexpected error')} since the start.`, 'Report it with the log.');
    if (status.log_dropped > 0 || status.log_failed > 0)
        tell(WARNING, 'access log', `${amount((status.log_dropped || 0) + (status.log_failed || 0), 'line')} of the access log were lost.`,
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
