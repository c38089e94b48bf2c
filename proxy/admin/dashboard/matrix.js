// Who gave whom how much: a table for a few nodes, a picture of all cells for many, and in any case the
// pairs with most hits as a list.
import {byId, count, h, nodeName, table, update} from './dom.js';

const SMALL = 12;  // nodes in a table
const PAIRS = 20;

let cells = null;  // of the picture: {names, hits, most, x, y}

/// `hits[row][column]`: peer hits of the node of the row from the node of the column; null if no
/// report says it.
function matrixOf(nodes) {
    const names = nodes.map((node) => node.node).sort((a, b) => a.localeCompare(b, 'en', {numeric: true}));
    const at = new Map(names.map((name, i) => [name, i]));
    const hits = names.map(() => new Array(names.length).fill(null));
    const down = new Set();
    for (const node of nodes) {
        const row = hits[at.get(node.node)];
        if (['down', 'silent', 'refused'].includes(node.state)) down.add(at.get(node.node));
        if (!(node.links_left_out > 0) && node.links?.length) row.fill(0);
        for (const link of node.links || [])
            if (at.has(link.peer)) row[at.get(link.peer)] = link.hits ?? null;
    }
    // The other end knows what it gave, where the report of the asking node leaves the link out.
    for (const node of nodes)
        for (const link of node.links || []) {
            const row = hits[at.get(link.peer)];
            if (row && row[at.get(node.node)] === null && typeof link.given === 'number')
                row[at.get(node.node)] = link.given;
        }
    return {names, hits, down};
}

export function showMatrix(nodes) {
    const {names, hits, down} = matrixOf(nodes);
    const pairs = [];
    hits.forEach((row, i) => row.forEach((number, j) => {
        if (i !== j && number > 0) pairs.push({to: names[i], from: names[j], number});
    }));
    pairs.sort((a, b) => b.number - a.number);
    const most = pairs.length ? pairs[0].number : 0;
    const small = names.length <= SMALL;
    byId('matrix-large').hidden = small;
    if (small) {
        cells = null;
        update(byId('matrix'), names.length < 2 ? h('p', {class: 'empty'}, 'This node has no peers.') : smallTable(names, hits, most));
    } else {
        update(byId('matrix'));
        cells = {names, hits, most, down, x: cells?.x ?? 0, y: cells?.y ?? 0};
        draw();
    }
    const all = pairs.reduce((sum, pair) => sum + pair.number, 0);
    update(byId('pairs'), small || pairs.length === 0
        ? h('p', {class: 'hint'}, pairs.length === 0 && names.length > 1 ? 'No peer has given anything yet.' : '')
        : h('details', null, h('summary', null, `The ${Math.min(PAIRS, pairs.length)} pairs with most peer hits, of ${count(all)} in all`),
            table('Pairs with most peer hits', [{name: 'giver'}, {name: 'asker'}, {name: 'peer hits', number: true}],
                  pairs.slice(0, PAIRS).map((pair) => ({key: `${pair.from} ${pair.to}`, cells: [nodeName(pair.from), nodeName(pair.to), count(pair.number)]})))));
}

/// 0 for no hits, else 1 to 9 by the square root.
function shade(number, most) {
    if (!(number > 0)) return 0;
    return 1 + Math.round(8 * Math.sqrt(number / most));
}

function smallTable(names, hits, most) {
    return h('div', {class: 'scroll', role: 'region', tabindex: 0, 'aria-label': 'Peer hits of each pair'},
        h('table', {role: 'table', class: 'matrix'}, h('caption', {class: 'hidden'}, 'Peer hits: rows asked, columns gave'),
          h('thead', {role: 'rowgroup'}, h('tr', {role: 'row'}, h('th', {scope: 'col', role: 'columnheader'}, 'asked \\ gave'),
                             names.map((name) => h('th', {scope: 'col', role: 'columnheader', class: name.length > 8 ? 'number upright' : 'number'}, nodeName(name))))),
          h('tbody', {role: 'rowgroup'}, names.map((name, i) => h('tr', {role: 'row', 'data-key': name}, h('th', {scope: 'row', role: 'rowheader'}, nodeName(name)),
              names.map((from, j) => i === j ? h('td', {role: 'cell', class: 'self'}, h('span', {class: 'hidden'}, 'itself'))
                  : h('td', {role: 'cell', 'data-name': `from ${from}`, class: `number shade${shade(hits[i][j], most)}`}, count(hits[i][j]))))))));
}

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/// Draws the picture: one square for each pair. Rows and columns of nodes that are gone have a mark.
export function draw() {
    if (!cells) return;
    const canvas = byId('matrix-canvas'), {names, hits, most, down} = cells, size = names.length;
    const room = canvas.parentElement.clientWidth;
    if (room === 0) return;  // another panel is shown
    const side = Math.max(1, Math.min(14, Math.floor(Math.min(room - 8, 820) / size)));
    const scale = window.devicePixelRatio || 1;
    const edge = side * size + 8;
    canvas.width = canvas.height = Math.round(edge * scale);
    canvas.style.width = canvas.style.height = `${edge}px`;
    const ink = canvas.getContext('2d');
    ink.scale(scale, scale);
    const shades = Array.from({length: 10}, (_, i) => color(`--shade${i}`));
    const gap = side >= 4 ? 0.5 : 0;
    for (let y = 0; y < size; y++)
        for (let x = 0; x < size; x++) {
            ink.fillStyle = x === y ? color('--rail') : hits[y][x] === null ? color('--page') : shades[shade(hits[y][x], most)];
            ink.fillRect(8 + x * side, 8 + y * side, side - gap, side - gap);
        }
    ink.fillStyle = color('--error');
    for (const i of down) {
        ink.fillRect(0, 8 + i * side, 6, Math.max(1, side - gap));
        ink.fillRect(8 + i * side, 0, Math.max(1, side - gap), 6);
    }
    ink.strokeStyle = color('--text');
    ink.lineWidth = 2;
    ink.strokeRect(8 + cells.x * side, 8 + cells.y * side, Math.max(side, 3), Math.max(side, 3));
    cells.side = side;
}

function tell() {
    const {names, hits, x, y, down} = cells, number = hits[y][x];
    const state = (i) => down.has(i) ? ' (no report)' : '';
    byId('matrix-readout').textContent = x === y ? `${names[x]}${state(x)}: itself`
        : `${names[y]}${state(y)} got ` + (number === null ? 'an unknown number of peer hits' : number === 1 ? '1 peer hit' : `${count(number)} peer hits`) +
          ` from ${names[x]}${state(x)}.`;
}

export function followMatrix() {
    const canvas = byId('matrix-canvas');
    const move = (x, y) => {
        const last = cells.names.length - 1;
        cells.x = Math.max(0, Math.min(last, x));
        cells.y = Math.max(0, Math.min(last, y));
        draw();
        tell();
    };
    canvas.addEventListener('pointermove', (event) => {
        if (!cells) return;
        const box = canvas.getBoundingClientRect();
        const x = Math.floor((event.clientX - box.left - 8) / cells.side);
        const y = Math.floor((event.clientY - box.top - 8) / cells.side);
        if (x !== cells.x || y !== cells.y) move(x, y);
    });
    canvas.addEventListener('keydown', (event) => {
        const step = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[event.key];
        if (!step || !cells) return;
        event.preventDefault();
        move(cells.x + step[0], cells.y + step[1]);
    });
    window.addEventListener('resize', draw);
}
