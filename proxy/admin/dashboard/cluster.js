// The panel “Cluster”: problems, the traffic of now, all nodes, links of one node.
import {obstacle} from './api.js';
import {amount, byId, bytes, count, figure, h, isNumber, lasting, milliseconds, nodeName, percent, ratio, table, tile, update} from './dom.js';
import {showMatrix} from './matrix.js';
import {allClear, findProblems, tally} from './problems.js';
import {requestChart, sum as requestsOf} from './traffic.js';
import {LINK_REASONS, LINK_STATES, NODE_STATES, OUTCOMES} from './words.js';

// Rows of a long table before the button for the rest; on narrow screens each is a card.
const narrow = matchMedia('(max-width: 760px)');
const most = () => narrow.matches ? 10 : 50;
const view = {sort: 'state', down: false, all: false, links: ''};

const LEVELS = {error: 'Fault', warning: 'Warning', note: 'Note'};
const RANK = {down: 0, refused: 0.5, silent: 1, not_ready: 2, draining: 3, no_report: 4, ready: 9};

const total = (requests) => requests ? OUTCOMES.reduce((all, each) => all + (requests[each] || 0), 0) : NaN;
const part = (node, ...outcomes) =>
    ratio(outcomes.reduce((all, each) => all + (node.requests?.[each] || 0), 0), total(node.requests));

export function showCluster(known) {
    const why = obstacle(known.nodes);
    const nodes = why ? null : known.nodes.json;
    const status = known.status?.json || null;
    showProblems(findProblems({nodes, status, recent: known.recent}), nodes);
    if (why) {
        for (const id of ['cluster-now', 'cluster-chart', 'cluster-totals', 'matrix', 'pairs', 'links']) update(byId(id));
        update(byId('nodes'), h('p', {class: 'empty'}, why));
        return;
    }
    showNow(nodes.nodes, known.traffic);
    showTotals(nodes.nodes);
    showNodes(nodes.nodes);
    showMatrix(nodes.nodes);
    showLinks(nodes.nodes, status);
}

export function sortNodes(by) {
    if (view.sort === by) view.down = !view.down;
    else Object.assign(view, {sort: by, down: by !== 'node' && by !== 'state'});
}
export const showAllNodes = () => { view.all = !view.all; };

function showProblems(problems, nodes) {
    const list = problems.map((each) => h(
        'li', {class: each.level, 'data-key': each.key},
        h('p', null, h('b', null, LEVELS[each.level] + ': '), each.what),
        each.todo ? h('p', {class: 'todo'}, h('b', null, 'What to do: '), each.todo) : null));
    update(byId('problems'), list.length
        ? h('ul', {class: 'problems', 'aria-label': 'Problems'}, list)
        : h('p', {class: 'fine'}, nodes ? allClear(nodes) : ''));
    // A text that stays the same is read once.
    const words = nodes ? tally(problems) || 'No problem is known' : '';
    if (byId('tally').textContent !== words) byId('tally').textContent = words;
}

/// The traffic of the last minute, and of the last 15 minutes as a chart. `answer`: the history of all nodes.
function showNow(nodes, answer) {
    const {points = [], interval_seconds: interval} = obstacle(answer) ? {} : answer.json;
    const last = points[points.length - 1];
    const minute = points.filter((point) => point.t > last.t - 60);
    const of = (value) => minute.reduce((all, point) => all + value(point), 0);
    const seconds = of((point) => point.seconds || interval), all = of((point) => requestsOf(point.requests));
    const share = (...outcomes) => percent(ratio(of((point) => outcomes.reduce((some, each) => some + (point.requests?.[each] || 0), 0)), all));
    const ready = nodes.filter((node) => node.state === 'ready').length;
    // The last report of a node that is gone says nothing about its links of now.
    const links = nodes.flatMap((node) => (node.links || []).map(
        (link) => ({state: ['down', 'silent', 'refused'].includes(node.state) ? node.state : link.state})));
    const errors = nodes.reduce((some, node) => some + (node.errors_5m || 0), 0);
    update(byId('cluster-now'),
        tile('Requests per second', figure(seconds > 0 ? all / seconds : NaN), 'all nodes, last minute'),
        tile('Time to answer, p50', milliseconds(last?.p50_ms?.all), `p99 ${milliseconds(last?.p99_ms?.all)}, of the slowest node`),
        tile('Hit rate now', share('local_hit', 'peer_hit'), `${share('local_hit')} local, ${share('peer_hit')} peers`),
        tile('Failures now', share('error'), `${amount(errors, 'request')} in 5 minutes`),
        tile('Nodes ready', `${count(ready)} of ${count(nodes.length)}`),
        tile('Links in step', `${count(links.filter((link) => link.state === 'in_step').length)} of ${count(links.length)}`),
        tile('Objects', count(nodes.reduce((some, node) => some + (node.objects || 0), 0))));
    update(byId('cluster-chart'), requestChart('cluster-requests', 'Requests per second of all nodes, last 15 minutes', points, interval, {wide: true}));
}

function showTotals(nodes) {
    const sum = (value) => nodes.reduce((all, node) => all + (value(node) || 0), 0);
    const all = sum((node) => total(node.requests) || 0);
    const share = (...outcomes) =>
        ratio(outcomes.reduce((so_far, each) => so_far + sum((node) => node.requests?.[each]), 0), all);
    const reporting = nodes.filter((node) => node.requests).length;
    const whose = reporting < nodes.length ? `of the ${amount(reporting, 'node')} that ${reporting === 1 ? 'reports' : 'report'}` : '';
    const saved = sum((node) => (node.saved?.from_memory_bytes || 0) + (node.saved?.from_peers_bytes || 0));
    update(byId('cluster-totals'),
        tile('Requests', count(all), whose),
        tile('Hit rate', percent(share('local_hit', 'peer_hit')),
             `${percent(share('local_hit'))} local, ${percent(share('peer_hit'))} peers`),
        tile('Origin fetches', percent(share('origin_fetch'))),
        tile('Bytes saved', bytes(saved), `${bytes(sum((node) => node.saved?.from_peers_bytes))} by peers`),
        tile('Failed requests', count(sum((node) => node.requests?.error))));
}

const COLUMNS = [
    ['node', 'node', (node) => node.node],
    ['state', 'state', (node) => RANK[node.state] ?? 1],
    ['requests', 'requests', (node) => total(node.requests)],
    ['local', 'local', (node) => part(node, 'local_hit')],
    ['peers', 'peers', (node) => part(node, 'peer_hit')],
    ['origin', 'origin', (node) => part(node, 'origin_fetch')],
    ['saved', 'saved', (node) => savedOf(node)],
    ['objects', 'objects', (node) => node.objects],
    ['memory', 'memory', (node) => ratio(node.memory?.bytes, node.memory?.cap_bytes)],
    ['disk', 'disk', (node) => ratio(node.disk?.bytes, node.disk?.cap_bytes)],
    ['fill', 'summary fill', (node) => node.summary?.fill],
    ['error', 'expected error', (node) => node.summary?.expected_error],
    ['lag', 'lag', (node) => lagOf(node)],
    ['false', 'false hits', (node) => falseHits(node)],
    ['errors', 'failed requests, 5\u00a0m', (node) => node.errors_5m],
    ['age', 'report', (node) => node.self ? 0 : node.age_seconds],
];
// Columns that only a wide window shows, and those that a middle one shows as well.
const ROOM = {
    saved: 'wide', fill: 'wide', error: 'wide', lag: 'wide', false: 'wide', age: 'wide', peers: 'middle', origin: 'middle', disk: 'middle',
};
const TITLES = {
    local: 'Share of its requests that its own store answered', peers: 'Share that a peer answered',
    origin: 'Share that the origin answered', saved: 'Bytes that its store and its peers gave in place of origins',
    fill: 'Part of the bits of its summary that are set', error: 'Probability that its summary promises an absent key',
    lag: 'Longest time since a summary of a peer was confirmed there', false: 'Requests to peers whose summary promised a missing object',
    age: 'Age of its last report', requests: 'Requests of clients since its start',
    state: 'What its last report, and the link with it, say', objects: 'Responses in its memory and on its disks',
    memory: 'Part of cache.memory that is in use', disk: 'Part of cache.disk that is in use',
    errors: 'Requests of the last five minutes without a usable answer',
};

const savedOf = (node) => node.saved ? (node.saved.from_memory_bytes || 0) + (node.saved.from_peers_bytes || 0) : undefined;
const lagOf = (node) => node.links?.reduce(
    (most, link) => link.state === 'in_step' && isNumber(link.lag_seconds) ? Math.max(most, link.lag_seconds) : most, 0);
const falseHits = (node) => node.links?.reduce((all, link) => all + (link.false_hits || 0), 0);

function showNodes(nodes) {
    const word = byId('node-filter').value.trim().toLowerCase();
    const found = nodes.filter((node) => `${node.node} ${node.state}`.toLowerCase().includes(word));
    const value = COLUMNS.find(([id]) => id === view.sort)[2];
    const order = (a, b) => {
        const x = value(a) ?? -1, y = value(b) ?? -1;
        const least = typeof x === 'string' ? x.localeCompare(y, 'en', {numeric: true})
                                            : (Number.isNaN(x) ? -1 : x) - (Number.isNaN(y) ? -1 : y);
        return (view.down ? -least : least) || (b.self === true) - (a.self === true);
    };
    found.sort(order);
    const shown = view.all ? found : found.slice(0, most());
    update(byId('nodes'),
        table('Nodes', COLUMNS.map(([id, name]) => ({
            name, number: id !== 'node' && id !== 'state', room: ROOM[id], title: TITLES[id], act: 'sort', value: id,
            sorted: view.sort === id ? (view.down ? 'descending' : 'ascending') : null})),
            shown.map((node) => ({key: node.node, attributes: {class: `is-${node.state}`}, cells: cellsOf(node)})),
            {class: 'nodes'}),
        h('p', {class: 'hint narrower'}, 'A wider window shows more columns.'),
        found.length === 0 ? h('p', {class: 'empty'}, 'No node has this name or state.') : null,
        found.length > most()
            ? h('button', {type: 'button', 'data-act': 'all-nodes'},
                view.all ? `Show the first ${most()} only` : `Show all ${count(found.length)} nodes`) : null);
}

function cellsOf(node) {
    const [words] = NODE_STATES[node.state] || [node.state];
    return [
        h('span', null, nodeName(node.node), node.self ? [' ', h('span', {class: 'hint word'}, '(this node)')] : null),
        h('span', null, h('span', {class: `badge ${node.state}`}, words), ' ', h('span', {class: 'hint word'}, stateAge(node))),
        count(total(node.requests)), percent(part(node, 'local_hit')), percent(part(node, 'peer_hit')),
        percent(part(node, 'origin_fetch')), bytes(savedOf(node)),
        count(node.objects), used(node.memory), used(node.disk), percent(node.summary?.fill),
        percent(node.summary?.expected_error), isNumber(lagOf(node)) ? `${figure(lagOf(node))} s` : '–',
        count(falseHits(node)), count(node.errors_5m),
        node.self ? 'now' : isNumber(node.age_seconds) ? `${lasting(node.age_seconds)} ago` : '–'];
}

/// For how long the node has been so, as far as it is known.
function stateAge(node) {
    if (isNumber(node.state_seconds)) return `for ${lasting(node.state_seconds)}`;
    return isNumber(node.uptime_seconds) ? `up ${lasting(node.uptime_seconds)}` : '';
}

const used = (room) => !room || !(room.cap_bytes > 0) ? '–'
    : h('span', {title: `${bytes(room.bytes)} of ${bytes(room.cap_bytes)}`}, percent(ratio(room.bytes, room.cap_bytes)));

/// Links of the chosen node. Of this node itself the status knows more.
function showLinks(nodes, status) {
    const select = byId('link-node');
    const chosen = nodes.find((node) => node.node === select.value) || nodes[0];
    update(select, nodes.map((node) => h('option', {value: node.node, 'data-key': node.node}, node.node)));
    select.value = chosen.node;
    const details = new Map();
    if (chosen.self) for (const peer of status?.cluster?.peers || []) details.set(peer.node, peer);
    const links = [...(chosen.links || [])].sort(
        (a, b) => (a.state === 'in_step') - (b.state === 'in_step') || (b.hits || 0) - (a.hits || 0));
    const shown = links.slice(0, view.all ? links.length : most());
    update(byId('links'),
        chosen.state === 'silent' || chosen.state === 'down'
            ? h('p', {class: 'hint'}, `The last report of this node is ${lasting(chosen.age_seconds)} old.`) : null,
        links.length === 0 ? h('p', {class: 'empty'}, 'This node has no peers, or has not reported them.')
            : table(`Links of ${chosen.node}`,
                    [{name: 'peer'}, {name: 'state'}, {name: 'what to do'}, {name: 'hits', number: true},
                     {name: 'given', number: true}, {name: 'false hits', number: true, room: 'middle'},
                     {name: 'failures', number: true}, {name: 'lag', number: true, room: 'middle'}, {name: 'round trip', number: true, room: 'middle'}],
                    shown.map((link) => ({key: link.peer, cells: linkCells(link, details.get(link.peer))})),
                    {class: 'links'}),
        links.length > shown.length ? h('p', {class: 'hint'}, `In step, or with fewer hits: ${amount(links.length - shown.length, 'more link')}.`) : null,
        chosen.links_left_out > 0
            ? h('p', {class: 'hint'}, `On that node's own dashboard: ${amount(chosen.links_left_out, 'more link')}; its report names those with most hits.`) : null);
}

function linkCells(link, detail) {
    const [words, meaning, todo] = LINK_STATES[link.state] || [link.state, '', ''];
    const reason = link.state === 'in_step' ? null : LINK_REASONS[detail?.last_error];
    const since = isNumber(detail?.state_seconds) ? `, for ${lasting(detail.state_seconds)}` : '';
    return [
        nodeName(link.peer), h('span', {class: `badge ${link.state}`, title: meaning}, words + since),
        link.state === 'in_step' && !detail?.cause ? null
            : h('span', null, reason ? `${reason[0]} ${reason[1]}` : todo || (link.state === 'in_step' ? '' : meaning),
          detail?.cause ? h('span', {class: 'cause'}, ` Cause: ${detail.cause}.`) : null),
        count(link.hits), count(link.given), count(link.false_hits), count(link.failures),
        isNumber(link.lag_seconds) ? `${figure(link.lag_seconds)} s` : '–',
        detail?.round_trip_seconds > 0 ? milliseconds(1000 * detail.round_trip_seconds) : '–'];
}
