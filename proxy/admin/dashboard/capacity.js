// The panels “Disks, memory, limits”, “Log” and “Settings”.
import {obstacle} from './api.js';
import {amount, byId, bytes, clock, count, dayAndTime, gauge, h, lasting, percent, ratio, table, update} from './dom.js';
import {hadErrorLately} from './problems.js';
import {DISK_STATES, REFUSALS, VERDICTS} from './words.js';

/// `before`: the status of the refresh before, for rates.
export function showCapacity(known) {
    const why = obstacle(known.status);
    if (why) {
        update(byId('capacity'), h('p', {class: 'empty'}, why));
        return;
    }
    const status = known.status.json, before = known.before?.json;
    const settings = new Map((known.settings?.json?.settings || []).map((each) => [each.name, each.value]));
    const self = known.nodes?.json?.nodes?.find((node) => node.self);
    update(byId('capacity'),
        memory(status, self, settings), disks(status, before), counts(
            'Refused requests and connections, since the start', status.refusals || {}, REFUSALS, 'Nothing was refused.'),
        counts('Responses offered to the store, since the start', status.storage || {}, VERDICTS, 'No response was offered yet.'),
        servers(status.upstreams || []), certificates(status.tls?.certificates || []));
}

/// Sizes in settings are texts such as "256MiB".
function sizeOf(text) {
    if (typeof text === 'number') return text;
    const read = /^(\d+)\s*(B|KiB|MiB|GiB|TiB)?$/.exec(String(text ?? ''));
    return read ? Number(read[1]) * 1024 ** ['B', 'KiB', 'MiB', 'GiB', 'TiB'].indexOf(read[2] || 'B') : NaN;
}

function memory(status, self, settings) {
    const cache = status.cache || {}, process = status.process || {}, open = status.connections?.open;
    const cap = self?.memory?.cap_bytes, windows = sizeOf(settings.get('limits.body_windows'));
    const limit = Number(settings.get('limits.connections'));
    const of = (part, all, show) => all > 0 ? `${show(part)} of ${show(all)}` : show(part);
    return h('div', {class: 'card', 'data-key': 'memory'}, h('h3', null, 'Memory and limits'),
        h('div', {class: 'gauges'},
            gauge('Stored responses (cache.memory)', cache.memory_bytes, cap, of(cache.memory_bytes, cap, bytes)),
            gauge('Bodies in flight (limits.body_windows)', status.window_bytes, windows, of(status.window_bytes, windows, bytes)),
            gauge('Client connections (limits.connections)', open, limit, of(open, limit, count)),
            gauge('File descriptors', process.open_fds, process.max_fds, of(process.open_fds, process.max_fds, count)),
            gauge('Index of the disk', cache.disk_index_bytes, 0, bytes(cache.disk_index_bytes)),
            gauge('Memory of the process', process.resident_bytes, 0, bytes(process.resident_bytes))),
        settings.size === 0 ? h('p', {class: 'hint'}, 'With the token, the limits from the settings appear here as well.') : null,
        h('p', {class: 'hint'}, `Evicted: ${amount(cache.memory_evictions, 'response')} from memory, ${amount(cache.disk_evictions, 'response')} from disk. ` +
                               `Closed for new connections: ${amount(status.connections?.made_room, 'idle one')}.`));
}

function disks(status, before) {
    const cache = status.cache || {}, list = cache.disk || [];
    const seconds = before?.at ? (status.at - before.at) / 1000 : 0;
    const earlier = new Map((before?.cache?.disk || []).map((disk) => [disk.path, disk]));
    const rate = (disk) => {
        const then = earlier.get(disk.path);
        return then && seconds > 0.5 ? bytes(Math.max(0, (disk.written_bytes - then.written_bytes) / seconds)) + '/s' : '–';
    };
    const refused = (disk) => [['refused_queue_full', 'queue full'], ['refused_paused', 'after an error'], ['refused_too_large', 'too large'],
                               ['refused_off', 'while off'], ['read_refused', ', too many under way', 'read'],
                               ['failed', ' failed', 'write'], ['read_failed', ' failed', 'read']]
        .filter(([name]) => disk[name] > 0)
        .map(([name, words, noun]) => noun ? amount(disk[name], noun) + words : `${count(disk[name])} ${words}`).join(', ');
    return h('div', {class: 'card', 'data-key': 'disks'}, h('h3', null, 'Disks'),
        list.length === 0 ? h('p', {class: 'empty'}, 'This node has no disk tier (cache.disk).')
            : [table('Disks', [{name: 'directory'}, {name: 'state'}, {name: 'used', number: true}, {name: 'of', number: true}, {name: 'writes', number: true},
                               {name: 'waiting', number: true, room: 'middle'}, {name: 'reads', number: true}, {name: 'from the device', number: true, room: 'middle'}, {name: 'refused or failed'}],
                     list.map((disk) => ({key: disk.path, cells: [
                         disk.path, diskState(disk), bytes(disk.bytes), bytes(disk.cap_bytes), rate(disk), bytes(disk.queued_bytes),
                         count(disk.read_at_once + disk.read_by_threads), count(disk.read_by_threads), refused(disk) || 'none']}))),
               h('div', {class: 'gauges'}, list.map((disk) => gauge(disk.path, disk.bytes, disk.cap_bytes, percent(ratio(disk.bytes, disk.cap_bytes))))),
               h('p', {class: 'hint'}, `${amount(cache.disk_objects, 'object')}, ${amount(cache.disk_hits, 'hit')}. ` +
                   `Not written because they were requested only once: ${amount(cache.disk_admission_declined, 'response')}. ` +
                   'The node\'s own room may be full: new content replaces old content. Errors of the file system are another matter.')]);
}

function diskState(disk) {
    const [words, meaning, todo] = DISK_STATES[disk.state] || [disk.state, '', ''];
    if (disk.state === 'ready' && hadErrorLately(disk))
        return h('span', null, h('span', {class: 'badge disk-errors'}, 'ready, errors lately'), h('span', {class: 'cause'}, ` ${disk.last_error}, ${lasting(disk.last_error_seconds)} ago.`));
    return h('span', null, h('span', {class: `badge disk-${disk.state}`, title: meaning}, words),
             disk.last_error ? h('span', {class: 'cause'}, ` ${disk.last_error}. `) : null, todo ? ` ${todo}` : null);
}

function counts(caption, numbers, words, none) {
    const list = Object.entries(numbers).filter(([, number]) => number > 0).sort((a, b) => b[1] - a[1]);
    return h('div', {class: 'card', 'data-key': caption}, h('h3', null, caption),
        list.length === 0 ? h('p', {class: 'empty'}, none)
            : table(caption, [{name: 'word'}, {name: 'count', number: true}, {name: 'meaning'}, {name: 'setting, or what to do'}],
                    list.map(([word, number]) => ({key: word, cells: [h('code', null, word), count(number), ...(words[word] || ['', ''])]}))));
}

function servers(list) {
    if (list.length === 0) return null;
    return h('div', {class: 'card', 'data-key': 'servers'}, h('h3', null, 'Servers of groups, and parent proxies'),
        table('Servers', [{name: 'server'}, {name: 'group'}, {name: 'state'}, {name: 'requests', number: true}, {name: 'failures', number: true}, {name: 'in flight', number: true}],
              list.map((each) => ({key: `${each.group} ${each.server}`, cells: [
                  each.server, each.group, h('span', {class: `badge server-${each.state}`}, each.state + (each.backup ? ', backup' : '')),
                  count(each.requests), count(each.failures), count(each.in_flight)]}))));
}

function certificates(list) {
    if (list.length === 0) return null;
    return h('div', {class: 'card', 'data-key': 'certificates'}, h('h3', null, 'Certificates'),
        table('Certificates', [{name: 'file'}, {name: 'names'}, {name: 'expires in', number: true}],
              list.map((each) => ({key: each.file, cells: [each.file, (each.names || []).join(', '), lasting(each.expiry_seconds)]}))));
}

export function showLog(known) {
    const why = obstacle(known.errors);
    if (why) {
        update(byId('errors'), h('p', {class: 'empty'}, why));
        return;
    }
    const word = byId('log-filter').value.trim().toLowerCase();
    const list = (known.errors.json.errors || []).filter((each) => `${each.level} ${each.text}`.toLowerCase().includes(word));
    update(byId('errors'), list.length === 0
        ? h('p', {class: 'empty'}, word ? 'No line has this text.' : 'The node has logged no warning and no error.')
        : table('Log', [{name: 'time'}, {name: 'level'}, {name: 'text'}],
                list.map((each, i) => ({cells: [dayAndTime(each.t), h('span', {class: `badge log-${each.level}`}, each.level), each.text],
                                        key: `${each.t} ${list.length - i} ${each.text}`})), {class: 'log'}));
}

const valueText = (value) => typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);

export function showSettings(known) {
    const config = known.status?.json?.config;
    update(byId('config-state'), config ? h('p', null,
        `Generation ${count(config.generation)}, read ${clock(Date.parse(config.loaded_at) / 1000)}; ${amount(config.reloads, 'reload')} applied, ${count(config.failures)} refused.`,
        config.last_error ? h('b', {class: 'bad'}, ` The last reload was refused: ${config.last_error}`) : null) : null);
    const why = obstacle(known.settings);
    if (why) {
        update(byId('setting-list'), h('p', {class: 'empty'}, why));
        return;
    }
    const word = byId('setting-filter').value.trim().toLowerCase(), changed = byId('setting-changed').checked;
    const differs = (each) => valueText(each.value) !== valueText(each.default);
    const list = known.settings.json.settings.filter((each) => (!changed || differs(each)) &&
        `${each.name} ${valueText(each.value)}`.toLowerCase().includes(word));
    update(byId('setting-list'), list.length === 0 ? h('p', {class: 'empty'}, 'No setting has this name or value.')
        : table('Settings', [{name: 'setting'}, {name: 'value'}, {name: 'default'}, {name: 'source'}],
                list.map((each) => ({key: each.name, attributes: {class: differs(each) ? 'differs' : null},
                                     cells: [h('code', null, each.name), h('code', null, valueText(each.value)),
                                             h('code', null, valueText(each.default)), each.source]})), {class: 'settings'}));
}
