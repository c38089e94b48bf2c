// The panel “Traffic”: history of a node, and of this node sites, rules, origins, most requested URLs.
import {obstacle} from './api.js';
import {chartOf} from './charts.js';
import {amount, byId, bytes, count, figure, h, isNumber, lasting, milliseconds, percent, ratio, table, tile, update} from './dom.js';
import {OUTCOME_NAMES, OUTCOMES} from './words.js';

export const sum = (requests) => OUTCOMES.reduce((all, each) => all + (requests?.[each] || 0), 0);
const bytesPerSecond = (number) => bytes(number) + '/s';

/// The bytes that the own store gave in an interval.
function fromStore(point) {
    const b = point.bytes || {};
    return Math.max(0, (b.to_clients || 0) - (b.from_peers || 0) - (b.from_origins || 0));
}

/// Requests per second by outcome.
export const requestChart = (id, title, points, interval, more) => chartOf({
    id, title, points, interval, stacked: true, format: figure, ...more,
    series: OUTCOMES.map((each) => ({name: OUTCOME_NAMES[each], style: each,
                                     values: points.map((point) => (point.requests?.[each] || 0) / (point.seconds || interval))}))});

/// The node whose history is wanted: empty for this one, `*` for the sum.
export const historyNode = () => byId('traffic-node').value;

/// Long spans are kept of this node alone.
function showChoice(nodes) {
    const select = byId('traffic-node'), chosen = select.value;
    const self = nodes.find((node) => node.self)?.node || '';
    update(select, h('option', {value: '', 'data-key': ''}, `${self} (this node)`), nodes.length > 1 ? h('option', {value: '*', 'data-key': '*'}, 'all nodes') : null,
           nodes.filter((node) => !node.self).map((node) => h('option', {value: node.node, 'data-key': node.node}, node.node)));
    select.value = chosen === '*' || nodes.some((node) => node.node === chosen) ? chosen : '';
    for (const option of document.querySelectorAll('#span [data-words]')) {
        option.disabled = select.value !== '';
        option.textContent = option.dataset.words + (option.disabled ? ' (of this node alone)' : '');
    }
    if (select.value !== '') byId('span').value = '15m';
}

export function showTraffic(known) {
    showChoice(known.nodes?.json?.nodes || []);
    showHistory(known.history);
    showSites(known.sites, known.status);
    showTop(known.top, sum(known.status?.json?.requests));
}

function showHistory(answer) {
    const why = answer?.status === 404 ? answer.text : obstacle(answer);
    if (why) {
        update(byId('charts'), h('p', {class: 'empty'}, why));
        update(byId('traffic-totals'));
        return;
    }
    const {points, interval_seconds: interval} = answer.json;
    showTotals(points, interval);
    const series = (name, style, value, more) => ({name, style, values: points.map(value), ...more});
    const rate = (part) => (point) => {
        const all = sum(point.requests);
        return all > 0 ? part(point.requests) / all : null;
    };
    const time = (quantile, outcome) => (point) => {
        const ms = point[quantile]?.[outcome];
        return isNumber(ms) ? ms : null;
    };
    const seconds = (point) => point.seconds || interval;  // a pause of the node makes a longer one
    const common = {points, interval};
    update(byId('charts'),
        requestChart('requests', 'Requests per second, by outcome', points, interval),
        chartOf({...common, id: 'rates', title: 'Share of requests', most: 1, format: percent,
                 series: [series('local hits', 'local_hit', rate((r) => r.local_hit)),
                          series('peer hits', 'peer_hit', rate((r) => r.peer_hit)),
                          series('origin fetches', 'origin_fetch', rate((r) => r.origin_fetch)),
                          series('failed requests', 'error', rate((r) => r.error), {dashed: true})]}),
        chartOf({...common, id: 'bytes', title: 'Bytes to clients, by where they came from', stacked: true, binary: true,
                 format: bytesPerSecond, note: 'What the store and the peers give, the origin need not send.',
                 series: [series('own store', 'local_hit', (point) => fromStore(point) / seconds(point)),
                          series('peers', 'peer_hit', (point) => (point.bytes?.from_peers || 0) / seconds(point)),
                          series('origins', 'origin_fetch', (point) => (point.bytes?.from_origins || 0) / seconds(point))]}),
        chartOf({...common, id: 'times', title: 'Time to answer', log: true, format: milliseconds,
                 note: 'Whole lines: half of the requests were faster (p50). Dashed: 99 of 100 were (p99).',
                 series: (historyNode() ? ['all'] : ['local_hit', 'peer_hit', 'origin_fetch']).flatMap((each) => [
                     series(`${OUTCOME_NAMES[each] || 'all requests'} p50`, each, time('p50_ms', each)),
                     series('p99', each, time('p99_ms', each), {dashed: true})])}));
}

function showTotals(points, interval) {
    const total = Object.fromEntries(OUTCOMES.map((each) => [each, 0]));
    let store = 0, peers = 0, origins = 0, refused = 0;
    for (const point of points) {
        for (const each of OUTCOMES) total[each] += point.requests?.[each] || 0;
        store += fromStore(point);
        peers += point.bytes?.from_peers || 0;
        origins += point.bytes?.from_origins || 0;
        refused += point.refused || 0;
    }
    const all = sum(total), saved = store + peers;
    const last = points[points.length - 1];
    update(byId('traffic-totals'),
        tile('Requests', count(all), last ? `${figure(sum(last.requests) / (last.seconds || interval))} per second now` : ''),
        tile('Hit rate', percent(ratio(total.local_hit + total.peer_hit, all)),
             `${percent(ratio(total.local_hit, all))} local, ${percent(ratio(total.peer_hit, all))} peers`),
        tile('Origin fetches', percent(ratio(total.origin_fetch, all)), count(total.origin_fetch)),
        tile('Bytes saved', bytes(saved), `${percent(ratio(saved, saved + origins))} of the bytes to clients`),
        tile('From peers', bytes(peers), 'bytes that no origin sent again'),
        tile('Failed requests', count(total.error), `${amount(refused, 'refusal')} of requests and connections`));
}

const FIRST = 20;  // rows of a table before the button for the rest
const opened = new Set();
export const openRows = (caption) => { opened.has(caption) ? opened.delete(caption) : opened.add(caption); };

/// Shares of 5xx and 429 in the answers of an origin.
function troubles(origin) {
    if (!(origin?.answers > 0)) return '–';
    const parts = [[origin.server_errors, '5xx'], [origin.too_many_requests, '429']].filter(([number]) => number > 0);
    return parts.length === 0 ? 'none' : parts.map(([number, kind]) => `${percent(ratio(number, origin.answers))} ${kind}`).join(', ');
}

function requestRows(list, name) {
    return list.map((each) => {
        const all = sum(each.requests), r = each.requests || {};
        return {key: each[name], cells: [
            each[name], count(all), percent(ratio((r.local_hit || 0) + (r.peer_hit || 0), all)),
            percent(ratio(r.peer_hit || 0, all)), percent(ratio(r.origin_fetch || 0, all)),
            count(r.uncacheable || 0), count(r.error || 0), count(r.refused || 0), ...(name === 'site' ? [troubles(each.origin)] : []),
            bytes(each.bytes_to_clients)]};
    });
}

function requestTable(caption, heading, all, name) {
    all = [...all].sort((a, b) => sum(b.requests) - sum(a.requests));
    const list = opened.has(caption) ? all : all.slice(0, FIRST);
    return h('div', {class: 'card', 'data-key': caption}, h('h3', null, caption),
        list.length === 0 ? h('p', {class: 'empty'}, 'None yet.')
            : table(caption, [{name: heading}, {name: 'requests', number: true, title: 'Requests of clients'},
                              {name: 'hits', number: true, title: 'Share that the own store or a peer answered'},
                              {name: 'from peers', number: true, room: 'middle', title: 'Share that a peer answered'},
                              {name: 'origin', number: true, title: 'Share that the origin answered'},
                              {name: 'uncacheable', number: true, room: 'middle', title: 'Requests that pass the cache, such as POST'},
                              {name: 'failed requests', number: true, title: 'Requests without a usable answer'},
                              {name: 'refused', number: true, title: 'Requests that a setting refused'},
                              ...(name === 'site' ? [{name: 'errors of the origin', number: true, title: 'Shares of 5xx and 429 in what the origin answered'}] : []),
                              {name: 'to clients', number: true, title: 'Bytes of bodies'}], requestRows(list, name)),
        all.length > FIRST ? h('button', {type: 'button', 'data-act': 'rows', 'data-value': caption},
                               opened.has(caption) ? `Show the first ${FIRST} only` : `Show all ${count(all.length)}`) : null);
}

function showSites(answer, status) {
    const why = obstacle(answer);
    const answers = status?.json?.upstream?.answers || [];
    const timed = status?.json?.cluster?.origins || [];
    const origins = [...timed, ...[...new Set(answers.map((each) => each.origin))]
        .filter((place) => !timed.some((each) => each.origin === place)).map((origin) => ({origin}))];
    const at = (place) => answers.filter((each) => each.origin === place);
    const time = (seconds) => isNumber(seconds) ? milliseconds(1000 * seconds) : '–';
    const faultAt = (place) => {
        const fault = at(place).find((each) => each.fault)?.fault;
        return fault && `${fault.state === 'unanswered' ? 'no answer' : 'errors only'} for ${lasting(fault.seconds)} (${fault.reason})`;
    };
    const lately = (place) => at(place).reduce((all, {last_5m: last}) => ({
        answers: all.answers + last.answers, server_errors: all.server_errors + last.server_errors,
        too_many_requests: all.too_many_requests + last.too_many_requests}), {answers: 0, server_errors: 0, too_many_requests: 0});
    update(byId('sites'),
        why ? h('div', {class: 'card', 'data-key': 'why'}, h('h3', null, 'Sites and rules'), h('p', {class: 'empty'}, why))
            : [requestTable('Sites, since the start', 'site', answer.json.sites || [], 'site'),
               requestTable('Rules, since the start', 'rule', answer.json.rules || [], 'rule')],
        h('div', {class: 'card', 'data-key': 'origins'}, h('h3', null, 'Origins asked last'),
          origins.length === 0 ? h('p', {class: 'empty'}, 'None yet.')
              : table('Origins asked last',
                      [{name: 'origin'}, {name: 'sites'}, {name: 'usual answer', number: true, title: 'Smoothed time from a request to the head of the answer'},
                       {name: 'varies by', number: true, title: 'Smoothed deviation from it'},
                       {name: 'errors, 5\u00a0m', number: true, title: 'Shares of 5xx and 429 in its answers of the last five minutes'},
                       {name: 'asked beside a peer after', number: true, title: 'A peer that takes longer has the origin asked as well'},
                       {name: 'a peer is too far above', number: true, title: 'A peer with a longer round trip is not asked'}],
                      origins.map((each) => ({key: each.origin, cells: [
                          each.origin, at(each.origin).map((one) => one.site).slice(0, 6).join(', ') || '–', time(each.answer_seconds),
                          time(each.answer_deviation_seconds), faultAt(each.origin) || troubles(lately(each.origin)),
                          time(each.peer_budget_seconds), time(each.peer_limit_seconds)]})))));
}

/// A count of which half or more may be an error says nothing.
const isCertain = (each) => 2 * each.at_most_too_many < each.requests;

function topTable(caption, name, counted, off, all) {
    const list = counted?.filter(isCertain), hidden = counted ? counted.length - list.length : 0;
    return h('div', {class: 'card', 'data-key': caption}, h('h3', null, caption),
        !list ? h('p', {class: 'empty'}, off)
        : list.length === 0 ? h('p', {class: 'empty'}, hidden > 0 ? 'None with a certain count yet.' : 'None yet.')
        : table(caption, [{name}, {name: 'requests', number: true, title: 'Since the start of the node'},
                          {name: 'share', number: true, title: 'Of all requests of clients since the start'},
                          {name: 'too many by at most', number: true, title: 'The count is an estimate from one request in 16 and a bounded list; the number may be lower by so much.'}],
                list.map((each) => ({key: each[name], cells: [
                    name === 'URL' ? h('button', {type: 'button', class: 'link', 'data-act': 'explain', 'data-value': each.URL}, each.URL)
                                   : each[name],
                    '~' + count(each.requests), percent(Math.min(1, ratio(each.requests, all))), count(each.at_most_too_many)]}))),
        hidden > 0 ? h('p', {class: 'hint'}, `${count(hidden)} more ${hidden === 1 ? 'is' : 'are'} left out, because half of the count or more may be an error.`) : null);
}

function showTop(answer, all) {
    const why = obstacle(answer);
    if (why) {
        update(byId('top'), h('div', {class: 'card', 'data-key': 'why'}, h('h3', null, 'Most requested URLs'), h('p', {class: 'empty'}, why)));
        return;
    }
    const {urls, clients, off} = answer.json;
    update(byId('top'),
        topTable('Most requested URLs', 'URL', off ? null : urls && urls.map((each) => ({...each, URL: each.url})),
                 'Switched off by the setting admin.top_urls.', all),
        topTable('Clients with most requests', 'client', off ? null : clients,
                 'Switched off; the setting admin.top_clients switches it on.', all));
}
