// The page: panels, refresh, token, orders.
import {hasToken, obstacle, send, setToken, Silence, tokenIsRefused} from './api.js';
import {showCapacity, showLog, showSettings} from './capacity.js';
import {followCharts} from './charts.js';
import {showAllNodes, showCluster, sortNodes} from './cluster.js';
import {byId, clock, h, lasting, update} from './dom.js';
import {draw, followMatrix} from './matrix.js';
import {explain, PURGE_LABELS, purgeOrder} from './objects.js';
import {historyNode, openRows, showTraffic} from './traffic.js';
import {NODE_STATES} from './words.js';

const INTERVAL = 5000;  // milliseconds between refreshes of a visible page
const RECENT = 300;     // seconds of history in which problems are looked for

const known = {};  // the last answers: nodes, status, before, traffic, history, sites, top, errors, settings, recent
const contact = {since: 0, answered: 0, why: ''};  // times of this machine, in milliseconds

/// Each panel: the requests beside nodes and status, and the function that shows it. A guarded
/// request waits for another token after the node has refused it.
const PANELS = {
    cluster: {asks: {traffic: () => '/api/v1/history?span=15m&node=*'}, show: showCluster},
    traffic: {asks: {history: () => `/api/v1/history?span=${byId('span').value}${historyNode() ? `&node=${encodeURIComponent(historyNode())}` : ''}`, sites: () => '/api/v1/sites',
                     top: () => '/api/v1/top'}, show: showTraffic},
    objects: {asks: {}, show: () => {}},
    capacity: {asks: {settings: () => '/api/v1/settings'}, show: showCapacity},
    log: {asks: {errors: () => '/api/v1/errors'}, show: showLog},
    settings: {asks: {settings: () => '/api/v1/settings'}, show: showSettings},
};

const panel = () => PANELS[location.hash.slice(1)] ? location.hash.slice(1) : 'cluster';

async function ask(name, path) {
    if (known[name]?.status === 401 && known[name].path === path && !known[name].again) return;
    const answer = await send(path);
    known[name] = {...answer, path, again: answer.status !== 401 || answer.outdated};
}

/// The last minutes of history, for problems; once a minute is enough.
async function askRecent() {
    if (known.recentAt && Date.now() - known.recentAt < 60000) return;
    known.recentAt = Date.now();
    const answer = await send('/api/v1/history?span=15m');
    if (obstacle(answer)) return;
    const {points} = answer.json;
    const last = points.length ? points[points.length - 1].t : 0;
    known.recent = points.filter((point) => point.t > last - RECENT);
}

let running = false, again = false, timer = 0;

async function refresh() {
    clearTimeout(timer);
    if (document.hidden) return;
    again = running;  // with another token, panel or span
    if (running) return;
    running = true;
    try {
        const before = known.status;
        await Promise.all([ask('nodes', '/api/v1/nodes'), ask('status', '/api/v1/status'), askRecent(),
                           ...Object.entries(PANELS[panel()].asks).map(([name, path]) => ask(name, path()))]);
        if (known.status?.json) known.status.json.at = Date.now();
        if (known.status !== before) known.before = before;
        Object.assign(contact, {since: 0, answered: Date.now(), why: ''});
    } catch (error) {
        if (!(error instanceof Silence)) throw error;
        if (!contact.since) contact.since = Date.now();
        contact.why = error.message;
        known.recentAt = 0;
    } finally {
        running = false;
        timer = setTimeout(refresh, again ? 0 : INTERVAL);
    }
    show();
}

function show() {
    showHead();
    PANELS[panel()].show(known);
}

function showHead() {
    const nodes = known.nodes?.json, self = nodes?.nodes?.find((node) => node.self);
    const status = known.status?.json;
    const name = self?.node || status?.node || '';
    byId('node-name').textContent = name;
    document.title = contact.since ? `No answer: ${name} · hearsay` : name ? `${name} · hearsay` : 'hearsay';
    const state = self?.state || (status ? (status.draining ? 'draining' : status.ready ? 'ready' : 'not_ready') : '');
    const [words] = NODE_STATES[state] || [state];
    update(byId('node-state'), state && !contact.since ? h('span', {class: `badge ${state}`}, words) : null,
           status ? ` version ${status.version}, up ${lasting(status.uptime_seconds)}` : null);
    document.body.classList.toggle('old', contact.since > 0);
    showFreshness();
    const alarm = contact.since
        ? h('p', {class: 'alarm'}, `The node ${name} has not answered since ${clock(contact.since / 1000)}: ${contact.why}. ` +
            (contact.answered ? `The numbers below are those of ${clock(contact.answered / 1000)}. ` : '') +
            'Look at its process and its machine. This page goes on trying.')
        : known.nodes?.status === 401 || tokenIsRefused()
        ? h('p', {class: 'alarm'}, obstacle({status: 401}))
        : null;
    update(byId('alarm'), alarm);
    // With token_for `all` a refusal is all that is known.
    const wanted = [known.status, known.nodes].some((answer) => answer?.status === 401);
    byId('token-button').hidden = !(wanted || hasToken() || status?.config?.admin_token);
    byId('token-button').textContent = hasToken() ? (tokenIsRefused() ? 'Token refused' : 'Token set') : 'Enter the token';
}

function showFreshness() {
    const old = contact.answered ? Math.round((Date.now() - contact.answered) / 1000) : 0;
    byId('freshness').textContent = contact.since ? `no answer for ${lasting((Date.now() - contact.since) / 1000)}`
        : contact.answered ? (old < 2 ? 'up to date' : `${lasting(old)} old`) : 'waiting for the node';
}

function showPanel() {
    const name = panel();
    for (const each of Object.keys(PANELS)) byId(`panel-${each}`).hidden = each !== name;
    for (const link of document.querySelectorAll('nav a'))
        if (link.hash === `#${name}`) link.setAttribute('aria-current', 'page');
        else link.removeAttribute('aria-current');
    show();
    refresh();
}

// The token and orders.

function openToken(why) {
    byId('token-why').textContent = why || (hasToken() ? 'The page sends this token with its requests.'
        : 'Orders, URLs, the log and the settings need the token.');
    byId('token-input').value = '';
    byId('forget-token').hidden = !hasToken();
    byId('token-dialog').showModal();
}

/// Keeps a token that the node takes.
async function tryToken(text) {
    const why = byId('token-why');
    why.textContent = 'The node looks at it.';
    try {
        const answer = await send('/api/v1/settings', undefined, text);
        if (answer.status !== 401) return useToken(text);
        why.textContent = 'The node refuses this token.';
    } catch (error) {
        if (!(error instanceof Silence)) throw error;
        why.textContent = `The node does not answer: ${error.message}.`;
    }
    byId('token-input').select();
}

/// Forgets refusals, and asks again.
function useToken(text) {
    setToken(text);
    for (const answer of Object.values(known)) if (answer && answer.status === 401) answer.again = true;
    byId('token-dialog').close();
    show();
    refresh();
}

let pending = null;  // the order that waits for its confirmation

function confirm(order) {
    pending = order;
    byId('confirm-title').textContent = order.title;
    byId('confirm-go').textContent = order.go;
    update(byId('confirm-text'), order.text);
    byId('confirm-dialog').showModal();
    byId('confirm-cancel').focus();
}

async function carryOut(order) {
    const place = byId(order.result);
    update(place, h('p', {class: 'hint'}, 'The node works on it.'));
    try {
        const answer = await send(order.path, order.order);
        const usable = answer.status === 200 || answer.status === 202;
        if (answer.status === 401) openToken(obstacle(answer));
        update(place, usable ? order.show(answer)
            : h('div', {class: 'error note'}, h('p', null, order.refusal?.(answer) || (answer.status === 400 ? answer.text : obstacle(answer)))));
    } catch (error) {
        if (!(error instanceof Silence)) throw error;
        update(place, h('div', {class: 'error note'}, h('p', null, `The node does not answer: ${error.message}. The order may have arrived.`)));
    }
    showHead();
    refresh();
}

function reloadOrder() {
    const name = byId('node-name').textContent;
    return {
        title: `Reload node ${name}?`, go: 'Reload', path: '/api/v1/reload', order: {}, result: 'order-result',
        text: h('p', null, `Node ${name} reads its configuration file again. A valid file takes effect at once and as a whole; a faulty one is refused, and the old configuration stays. The other nodes do not reload.`),
        show: (answer) => h('div', {class: 'done note'}, h('p', null, answer.json?.changed?.length
            ? `Reloaded: changed ${answer.json.changed.join(', ')}.` : 'Reloaded: nothing has changed.'),
            (answer.json?.warnings || []).map((each) => h('p', null, `Warning: ${each.path}: ${each.message}`))),
        refusal: (answer) => answer.json?.errors
            ? ['The node refuses the file and keeps its configuration. ', ...answer.json.errors.map((each) => `${each.path}: ${each.message}. `)] : '',
    };
}

function drainOrder() {
    const name = byId('node-name').textContent;
    return {
        title: `Drain and end node ${name}?`, go: `Drain node ${name}`, path: '/api/v1/drain', order: {}, result: 'order-result',
        text: [h('p', null, `Node ${name} leaves the cluster: it withdraws its summary, finishes its requests, and the process ends. /readyz says 503 at once.`),
               h('p', null, 'It starts again only if a service manager or a person starts it. What only its memory holds is lost. This page then ends, too.')],
        show: () => h('div', {class: 'done note'}, h('p', null, `Node ${name} drains, and ends after its last request.`)),
    };
}

async function look(url) {
    byId('explain-url').value = url;
    update(byId('explanation'), h('p', {class: 'hint'}, 'The node asks its peers.'));
    try {
        const answer = await explain(url);
        if (answer.status === 401) openToken(obstacle(answer));
    } catch (error) {
        if (!(error instanceof Silence)) throw error;
        update(byId('explanation'), h('p', {class: 'empty'}, `The node does not answer: ${error.message}.`));
    }
    showHead();
}

const ACTS = {
    skip: (link, event) => { event.preventDefault(); byId('main').focus(); },
    token: () => openToken(''),
    'forget-token': () => useToken(''),
    'close-dialog': (button) => button.closest('dialog').close(),
    sort: (button) => { sortNodes(button.dataset.value); show(); },
    'all-nodes': () => { showAllNodes(); show(); },
    rows: (button) => { openRows(button.dataset.value); show(); },
    explain: (button) => { location.hash = '#objects'; look(button.dataset.value); },
    reload: () => confirm(reloadOrder()),
    drain: () => confirm(drainOrder()),
};

function listen() {
    document.addEventListener('click', (event) => {
        const button = event.target.closest('[data-act]');
        if (button) ACTS[button.dataset.act]?.(button, event);
    });
    const submit = (id, act) => byId(id).addEventListener('submit', (event) => {
        event.preventDefault();
        act();
    });
    submit('token-form', () => tryToken(byId('token-input').value.trim()));
    submit('confirm-form', () => {
        byId('confirm-dialog').close();
        if (pending) carryOut(pending);
        pending = null;
    });
    submit('explain-form', () => look(byId('explain-url').value.trim()));
    submit('purge-form', () => confirm(purgeOrder(known.nodes?.json?.nodes)));
    byId('token-dialog').addEventListener('close', () => { byId('token-input').value = ''; });
    byId('purge-kind').addEventListener('change', () => { byId('purge-label').textContent = PURGE_LABELS[byId('purge-kind').value]; });
    for (const id of ['node-filter', 'log-filter', 'setting-filter']) byId(id).addEventListener('input', show);
    for (const id of ['link-node', 'setting-changed']) byId(id).addEventListener('change', show);
    for (const id of ['span', 'traffic-node']) byId(id).addEventListener('change', () => { delete known.history; show(); refresh(); });
    byId('theme').addEventListener('change', () => {
        const theme = byId('theme').value;
        if (theme === 'auto') delete document.documentElement.dataset.theme;
        else document.documentElement.dataset.theme = theme;
        draw();
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
    document.addEventListener('visibilitychange', () => { if (!document.hidden) refresh(); });
    window.addEventListener('hashchange', () => {
        showPanel();
        byId(`title-${panel()}`).scrollIntoView({block: 'nearest'});
    });
    // A page that the browser keeps for “back” must not keep the token.
    window.addEventListener('pagehide', () => setToken(''));
    followCharts(byId('main'));
    followMatrix();
    setInterval(() => { if (!document.hidden) showFreshness(); }, 1000);
}

listen();
showPanel();
