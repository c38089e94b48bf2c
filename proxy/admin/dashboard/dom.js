// Elements and texts. No text is ever parsed as HTML: strings become text nodes, so the name of a node
// or a URL is harmless whatever it contains.

const SVG = 'http://www.w3.org/2000/svg';

/// Makes an element. `tag` may begin with `svg:`. Attributes that are null, undefined or false are
/// left out. Children are nodes, strings, numbers, or arrays of them; null is left out.
export function h(tag, attributes, ...children) {
    const element = tag.startsWith('svg:') ? document.createElementNS(SVG, tag.slice(4))
                                           : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {}))
        if (value !== null && value !== undefined && value !== false)
            element.setAttribute(name, value === true ? '' : String(value));
    add(element, children);
    return element;
}

function add(element, children) {
    for (const child of children)
        if (Array.isArray(child)) add(element, child);
        else if (child instanceof Node) element.append(child);
        else if (child !== null && child !== undefined && child !== false)
            element.append(String(child));
}

export const byId = (id) => document.getElementById(id);

/// Gives `parent` these children, and keeps what is there already: focus, selection, scroll position
/// and opened details stay. Elements with `data-key` are found again after a change of order.
export function update(parent, ...children) {
    const fresh = document.createDocumentFragment();
    add(fresh, children);
    updateChildren(parent, [...fresh.childNodes]);
}

const keyOf = (node) => node.nodeType === Node.ELEMENT_NODE ? node.getAttribute('data-key') : null;

function updateChildren(parent, fresh) {
    const keyed = new Map();
    for (const child of parent.children)
        if (keyOf(child) !== null) keyed.set(keyOf(child), child);
    let at = parent.firstChild;
    for (const next of fresh) {
        const key = keyOf(next);
        const known = key !== null ? keyed.get(key) : at;
        if (known && known.nodeName === next.nodeName && keyOf(known) === key) {
            if (known === at) at = at.nextSibling;
            else parent.insertBefore(known, at);
            updateNode(known, next);
        } else {
            parent.insertBefore(next, at);
        }
    }
    while (at) {
        const gone = at;
        at = at.nextSibling;
        gone.remove();
    }
}

function updateNode(node, next) {
    if (node.nodeType !== Node.ELEMENT_NODE) {
        if (node.data !== next.data) node.data = next.data;
        return;
    }
    for (const {name} of [...node.attributes])
        if (!next.hasAttribute(name) && name !== 'open') node.removeAttribute(name);
    for (const {name, value} of next.attributes)
        if (node.getAttribute(name) !== value) node.setAttribute(name, value);
    updateChildren(node, [...next.childNodes]);
}

/// The name of a node: one word, which only a very long one breaks.
export const nodeName = (name) => h('span', {class: name.length > 32 ? 'long' : 'word'}, name);

/// A table. `columns`: {name, number, title, room: the class of a column that needs a wide window}; `rows`: {key, cells, attributes}. On narrow screens each
/// row is a card whose cells carry the names of their columns; the roles keep it a table for readers of
/// the screen there.
export function table(caption, columns, rows, attributes) {
    const classOf = (column) => [column.number && 'number', column.room].filter(Boolean).join(' ') || null;
    const head = columns.map((column) => h(
        'th', {scope: 'col', role: 'columnheader', class: classOf(column), title: column.title,
               'aria-sort': column.sorted},
        column.act ? h('button', {type: 'button', class: 'sort', 'data-act': column.act,
                                  'data-value': column.value}, column.name)
                   : column.name));
    const body = rows.map((row) => h(
        'tr', {role: 'row', 'data-key': row.key, ...row.attributes},
        row.cells.map((cell, i) => h(
            i === 0 ? 'th' : 'td',
            {scope: i === 0 ? 'row' : null, role: i === 0 ? 'rowheader' : 'cell', class: classOf(columns[i]),
             'data-name': columns[i].name},
            cell))));
    return h('div', {class: 'scroll', role: 'region', tabindex: 0, 'aria-label': caption},
             h('table', {role: 'table', ...attributes}, h('caption', {class: 'hidden'}, caption),
               h('thead', {role: 'rowgroup'}, h('tr', {role: 'row'}, head)), h('tbody', {role: 'rowgroup'}, body)));
}

/// One number with its name.
export const tile = (name, value, more) =>
    h('div', {class: 'tile'}, h('div', {class: 'name'}, name), h('div', {class: 'value'}, value),
      more ? h('div', {class: 'more'}, more) : null);

/// A bar that is filled to `part` of `whole`; without a `whole`, the number alone.
export function gauge(name, part, whole, text) {
    const share = whole > 0 ? Math.min(1, part / whole) : null;
    const level = share === null ? '' : share > 0.95 ? 'full' : share > 0.8 ? 'high' : '';
    return h('div', {class: 'gauge'}, h('div', {class: 'gaugehead'}, h('span', null, name),
                                       h('span', {class: 'number'}, text)),
             share === null ? null
                            : h('svg:svg', {class: 'meter ' + level, viewBox: '0 0 100 6',
                                            preserveAspectRatio: 'none', role: 'img',
                                            'aria-label': `${name}: ${percent(share)}`},
                                h('svg:rect', {class: 'rail', width: 100, height: 6}),
                                h('svg:rect', {class: 'fill', width: (100 * share).toFixed(2),
                                               height: 6})));
}

const whole = new Intl.NumberFormat('en', {maximumFractionDigits: 0});
export const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);
export const UNKNOWN = '–';

/// 1234567 -> "1,234,567".
export const count = (number) => isNumber(number) ? whole.format(number) : UNKNOWN;

/// At most three significant digits.
export function figure(number) {
    if (!isNumber(number)) return UNKNOWN;
    if (Math.abs(number) >= 100) return whole.format(number);
    if (Math.abs(number) >= 10) return number.toFixed(1);
    return number === 0 ? '0' : Math.abs(number) >= 1 ? number.toFixed(2)
                                                      : String(Number(number.toPrecision(2)));
}

/// "950 B", "12.3 KiB", "64 MiB": powers of 1024, as in settings.
export function bytes(number) {
    if (!isNumber(number)) return UNKNOWN;
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
    let value = number, unit = 0;
    while (Math.abs(value) >= 1024 && unit < units.length - 1) {
        value /= 1024;
        unit++;
    }
    return (unit === 0 || value >= 100 || value === Math.floor(value) ? value.toFixed(0)
                                                                      : value.toFixed(1)) +
           ' ' + units[unit];
}

export const percent = (share) => !isNumber(share) ? UNKNOWN
    : share > 0 && share < 0.001 ? (100 * share).toPrecision(2) + ' %'
                                 : (100 * share).toFixed(1) + ' %';
export const ratio = (part, all) => all > 0 ? part / all : NaN;

/// "45 s", "12 m", "3 h", "8 d": rounded down, as `hearsay status` does.
export function lasting(seconds) {
    if (!isNumber(seconds)) return UNKNOWN;
    if (seconds < 120) return `${Math.floor(seconds)} s`;
    if (seconds < 7200) return `${Math.floor(seconds / 60)} m`;
    if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
    return `${Math.floor(seconds / 86400)} d`;
}

export const milliseconds = (ms) => !isNumber(ms) ? UNKNOWN
    : ms >= 1000 ? figure(ms / 1000) + ' s' : figure(ms) + ' ms';

const pad = (number) => String(number).padStart(2, '0');
const dayOf = (at) => `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
const timeOf = (at) => `${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
/// Seconds since 1970 as the viewer's day and time of day.
export function dayAndTime(seconds) {
    const at = new Date(seconds * 1000);
    return `${dayOf(at)} ${timeOf(at)}`;
}
/// The same, with the day if it is another one than today.
export function clock(seconds, withSeconds = true) {
    const at = new Date(seconds * 1000);
    const time = withSeconds ? timeOf(at) : timeOf(at).slice(0, 5);
    return new Date().toDateString() === at.toDateString() ? time : `${dayOf(at)} ${time}`;
}

/// "1 object", "2,000 objects".
export const amount = (number, noun) => `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
