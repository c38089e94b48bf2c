// The panel “Traffic”: history of this node, sites, rules, origins, most requested URLs.
import {obstacle} from './api.js';
import {chartOf} from './charts.js';
import {amount, byId, bytes, count, figure, h, isNumber, milliseconds, percent, ratio, table, tile, update} from './dom.js';
import {OUTCOME_NAMES, OUTCOMES} from './words.js';

const sum = (requests) => OUTCOMES.reduce((all, each) => all + (requests?.[each] || 0), 0);
const bytesPerSecond = (number) => bytes(number) + '/s';

/// The bytes that the own store gave in an interval.
function fromStore(point) {
    const b = point.bytes || {};
    return Math.max(0, (b.to_clients || 0) - (b.from_peers || 0) - (b.from_origins || 0));
}

export function showTraffic(known) {
    showHistory(known.history);
    showSites(known.sites, known.status);
    showTop(known.top);
}

function showHistory(answer) {
    const why = obstacle(answer);
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
        chartOf({...common, id: 'requests', title: 'Requests per second, by outcome', stacked: true, format: figure,
                 series: OUTCOMES.map((each) => series(OUTCOME_NAMES[each], each,
                                                      (point) => (point.requests?.[each] || 0) / seconds(point)))}),
        chartOf({...common, id: 'rates', title: 'Share of requests', most: 1, format: percent,
                 series: [series('local hits', 'local_hit', rate((r) => r.local_hit)),
                          series('peer hits', 'peer_hit', rate((r) => r.peer_hit)),
                          series('origin fetches', 'origin_fetch', rate((r) => r.origin_fetch)),
                          series('errors', 'error', rate((r) => r.error), {dashed: true})]}),
        chartOf({...common, id: 'bytes', title: 'Bytes to clients, by where they came from', stacked: true, binary: true,
                 format: bytesPerSecond, note: 'What the store and the peers give, the origin need not send.',
                 series: [series('own store', 'local_hit', (point) => fromStore(point) / seconds(point)),
                          series('peers', 'peer_hit', (point) => (point.bytes?.from_peers || 0) / seconds(point)),
                          series('origins', 'origin_fetch', (point) => (point.bytes?.from_origins || 0) / seconds(point))]}),
        chartOf({...common, id: 'times', title: 'Time to answer', log: true, format: milliseconds,
                 note: 'Whole lines: half of the requests were faster (p50). Dashed: 99 of 100 were (p99).',
                 series: ['local_hit', 'peer_hit', 'origin_fetch'].flatMap((each) => [
                     series(`${OUTCOME_NAMES[each]} p50`, each, time('p50_ms', each)),
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
        tile('Errors', count(total.error), `${amount(refused, 'refusal')}`));
}

function requestRows(list, name) {
    return list.map((each) => {
        const all = sum(each.requests), r = each.requests || {};
        return {key: each[name], cells: [
            each[name], count(all), percent(ratio((r.local_hit || 0) + (r.peer_hit || 0), all)),
            percent(ratio(r.peer_hit || 0, all)), percent(ratio(r.origin_fetch || 0, all)),
            count(r.uncacheable || 0), count(r.error || 0), bytes(each.bytes_to_clients)]};
    });
}

function requestTable(caption, heading, list, name) {
    return h('div', {class: 'card', 'data-key': caption}, h('h3', null, caption),
        list.length === 0 ? h('p', {class: 'empty'}, 'None yet.')
            : table(caption, [{name: heading}, {name: 'requests', number: true}, {name: 'hits', number: true},
                              {name: 'from peers', number: true}, {name: 'origin', number: true},
                              {name: 'uncacheable', number: true}, {name: 'errors', number: true},
                              {name: 'to clients', number: true}], requestRows(list, name)));
}

function showSites(answer, status) {
    const why = obstacle(answer);
    const origins = status?.json?.cluster?.origins || [];
    update(byId('sites'),
        why ? h('div', {class: 'card', 'data-key': 'why'}, h('h3', null, 'Sites and rules'), h('p', {class: 'empty'}, why))
            : [requestTable('Sites, since the start', 'site', answer.json.sites || [], 'site'),
               requestTable('Rules, since the start', 'rule', answer.json.rules || [], 'rule')],
        h('div', {class: 'card', 'data-key': 'origins'}, h('h3', null, 'Origins asked last'),
          origins.length === 0 ? h('p', {class: 'empty'}, 'None: only nodes with a cluster fill this list.')
              : table('Origins asked last',
                      [{name: 'origin'}, {name: 'usual answer', number: true}, {name: 'varies by', number: true},
                       {name: 'asked beside a peer after', number: true}, {name: 'a peer is too far above', number: true}],
                      origins.map((each) => ({key: each.origin, cells: [
                          each.origin, milliseconds(1000 * each.answer_seconds),
                          milliseconds(1000 * each.answer_deviation_seconds),
                          milliseconds(1000 * each.peer_budget_seconds), milliseconds(1000 * each.peer_limit_seconds)]})))));
}

function topTable(caption, name, list, off) {
    return h('div', {class: 'card', 'data-key': caption}, h('h3', null, caption),
        !list ? h('p', {class: 'empty'}, off)
        : list.length === 0 ? h('p', {class: 'empty'}, 'None yet.')
        : table(caption, [{name}, {name: 'requests', number: true},
                          {name: 'too many by at most', number: true, title: 'The count is an estimate from one request in 16 and a bounded list; the number may be lower by so much.'}],
                list.map((each) => ({key: each[name], cells: [
                    name === 'URL' ? h('button', {type: 'button', class: 'link', 'data-act': 'explain', 'data-value': each.URL}, each.URL)
                                   : each[name],
                    count(each.requests), count(each.at_most_too_many)]}))));
}

function showTop(answer) {
    const why = obstacle(answer);
    if (why) {
        update(byId('top'), h('div', {class: 'card', 'data-key': 'why'}, h('h3', null, 'Most requested URLs'), h('p', {class: 'empty'}, why)));
        return;
    }
    const {urls, clients, off} = answer.json;
    update(byId('top'),
        topTable('Most requested URLs', 'URL', off ? null : urls && urls.map((each) => ({...each, URL: each.url})),
                 'Switched off by the setting admin.top_urls.'),
        topTable('Clients with most requests', 'client', off ? null : clients,
                 'Switched off; the setting admin.top_clients switches it on.'));
}
