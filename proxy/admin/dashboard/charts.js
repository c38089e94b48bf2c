// Charts as SVG. Each one is a figure with a legend, a readout that pointer and arrow keys move, and the
// same numbers as a table.
import {clock, h, table} from './dom.js';

const HEIGHT = 200, LEFT = 68, RIGHT = 8, TOP = 8, BOTTOM = 22;
const ROWS = 15;  // of the table

/// A unit is about a pixel, so that labels keep their size. Two charts share a row of a wide window.
const widthNow = (chart) => Math.min(chart.wide || window.innerWidth < 1170 ? 1600 : 640, Math.max(280, window.innerWidth - 60));

const cursors = new Map();  // chart -> index of the point that the reader looks at
const drawn = new Map();    // chart -> its last description

/// `chart`: {id, title, points: [{t}], interval, series: [{name, style, values, dashed}], stacked, log,
/// format, most, binary: steps of the axis in powers of 1024, wide: it has a whole row}. Values may be null: unknown. Returns a figure.
export function chartOf(chart) {
    drawn.set(chart.id, chart);
    const {points} = chart;
    const cursor = Math.min(cursors.get(chart.id) ?? points.length - 1, points.length - 1);
    return h('figure', {class: 'card chart', 'data-key': chart.id},
             h('figcaption', null, h('h3', null, chart.title), chart.note ? h('p', {class: 'hint'}, chart.note) : null),
             points.length < 1
                 ? h('p', {class: 'empty'}, 'No numbers yet: the first ones come with the next interval.')
                 : [plot(chart, cursor), legend(chart, cursor), asTable(chart)]);
}

function scaleOf(chart) {
    let most = chart.most || 0, least = Infinity;
    chart.points.forEach((_, i) => {
        let sum = 0;
        for (const series of chart.series) {
            const value = series.values[i];
            if (value === null) continue;
            sum = chart.stacked ? sum + value : value;
            most = Math.max(most, sum);
            if (value > 0) least = Math.min(least, value);
        }
    });
    if (chart.log) {
        const low = Math.floor(Math.log10(Math.min(least, 1)));
        const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(most, 1))));
        const ticks = [];
        for (let i = low; i <= high; i += high - low > 5 ? 2 : 1) ticks.push(10 ** i);
        return {ticks, y: (value) => place((Math.log10(Math.max(value, 10 ** low)) - low) / (high - low))};
    }
    const unit = chart.binary && most > 0 ? 1024 ** Math.floor(Math.log(most) / Math.log(1024)) : 1;
    const step = unit * niceStep(most / unit / 4);
    const top = chart.most || Math.max(step, Math.ceil(most / step) * step);
    const ticks = [];
    for (let value = 0; value <= top * 1.0001; value += step) ticks.push(value);
    return {ticks, y: (value) => place(value / top)};
}

const place = (share) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - share);

function niceStep(rough) {
    if (!(rough > 0)) return 0.25;
    const power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 2.5, 5, 10].find((each) => each * power >= rough) * power;
}

/// One interval alone, as the node has just started: a line from its begin to its end.
function stretched(chart) {
    const [point] = chart.points;
    return {...chart, points: [{t: point.t - (point.seconds || chart.interval)}, point],
            series: chart.series.map((series) => ({...series, values: [series.values[0], series.values[0]]}))};
}

function plot(chart, cursor) {
    if (chart.points.length === 1) return plot(stretched(chart), 1);
    const WIDTH = widthNow(chart);
    const {points} = chart, {ticks, y} = scaleOf(chart);
    const from = points[0].t, to = points[points.length - 1].t;
    const x = (i) => LEFT + (WIDTH - LEFT - RIGHT) * (points[i].t - from) / Math.max(1, to - from);
    const base = points.map(() => 0);
    const shapes = chart.series.map((series) => {
        const top = series.values.map((value, i) => value === null ? null : chart.stacked ? base[i] + value : value);
        const shape = chart.stacked
            ? h('svg:path', {class: `area ${series.style}`, d: area(chart, x, y, base, top)})
            : h('svg:path', {class: `line ${series.style}${series.dashed ? ' dashed' : ''}`, d: line(chart, x, y, top)});
        if (chart.stacked) top.forEach((value, i) => { if (value !== null) base[i] = value; });
        return shape;
    });
    return h('svg:svg', {class: 'plot', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', tabindex: 0,
                         'data-chart': chart.id, 'aria-label': summary(chart)},
             ticks.map((value) => [
                 h('svg:line', {class: 'grid', x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value)}),
                 h('svg:text', {class: 'tick', x: LEFT - 6, y: y(value) + 4, 'text-anchor': 'end'}, chart.format(value))]),
             timeTicks(from, to, WIDTH < 480 ? 2 : 3).map((t) => h('svg:text', {
                 class: 'tick', x: LEFT + (WIDTH - LEFT - RIGHT) * (t - from) / Math.max(1, to - from), y: HEIGHT - 5,
                 'text-anchor': t === from ? 'start' : t === to ? 'end' : 'middle'}, timeText(t, to - from))),
             shapes,
             h('svg:line', {class: 'cursor', x1: x(cursor), x2: x(cursor), y1: TOP, y2: HEIGHT - BOTTOM}));
}

/// Intervals that are missing (the node was down) break a line.
function isGap(chart, i) {
    return i > 0 && chart.points[i].t - chart.points[i - 1].t > 1.6 * chart.interval;
}

function line(chart, x, y, values) {
    let path = '', down = false;
    values.forEach((value, i) => {
        if (value === null || isGap(chart, i)) down = false;
        if (value === null) return;
        // A point between two unknown ones stays visible by a round end of the line.
        path += `${down ? 'L' : 'M'}${x(i).toFixed(1)} ${y(value).toFixed(1)}`;
        if (!down && (values[i + 1] ?? null) === null) path += 'h0.1';
        down = true;
    });
    return path;
}

function area(chart, x, y, base, top) {
    let path = '', run = [];
    const close = () => {
        if (run.length > 0) {
            const at = (i, value) => `${x(i).toFixed(1)} ${y(value).toFixed(1)}`;
            path += 'M' + run.map((i) => at(i, top[i])).join('L') + 'L' +
                    run.slice().reverse().map((i) => at(i, base[i])).join('L') + 'Z';
        }
        run = [];
    };
    top.forEach((value, i) => {
        if (value === null || isGap(chart, i)) close();
        if (value !== null) run.push(i);
    });
    close();
    return path;
}

function timeTicks(from, to, parts) {
    const inner = Array.from({length: parts - 1}, (_, i) => Math.round(from + (to - from) * (i + 1) / parts));
    return [from, ...inner, to];
}

function timeText(t, span) {
    const at = new Date(t * 1000);
    return span > 2 * 86400 ? `${at.toLocaleDateString('en', {weekday: 'short'})} ${clock(t, false).slice(-5)}`
                            : clock(t, span < 3600).slice(span < 3600 ? -8 : -5);
}

function summary(chart) {
    const last = chart.points.length - 1;
    return `${chart.title}, ${chart.points.length} intervals up to ${clock(chart.points[last].t)}. Last: ` +
           chart.series.map((series) => `${series.name} ${show(chart, series.values[last])}`).join(', ') +
           '. The arrow keys move to earlier intervals.';
}

const show = (chart, value) => value === null || value === undefined ? '–' : chart.format(value);

function legend(chart, cursor) {
    return h('div', {class: 'legend', 'data-legend': chart.id},
             h('span', {class: 'when'}, clock(chart.points[cursor].t)),
             chart.series.map((series) => h(
                 'span', {class: 'entry'},
                 h('svg:svg', {class: 'swatch', viewBox: '0 0 18 10', 'aria-hidden': 'true'},
                   chart.stacked ? h('svg:rect', {class: `area ${series.style}`, width: 18, height: 10})
                                 : h('svg:path', {class: `line ${series.style}${series.dashed ? ' dashed' : ''}`, d: 'M0 5H18'})),
                 `${series.name} `, h('b', null, show(chart, series.values[cursor])))));
}

/// The numbers in at most ROWS rows, each of which stands for the interval that ends there.
function asTable(chart) {
    const step = Math.max(1, Math.ceil(chart.points.length / ROWS));
    const rows = [];
    for (let i = chart.points.length - 1; i >= 0; i -= step)
        rows.push({key: String(chart.points[i].t),
                   cells: [clock(chart.points[i].t), ...chart.series.map((series) => show(chart, series.values[i]))]});
    return h('details', null, h('summary', null, 'As a table'),
             table(chart.title, [{name: 'until'}, ...chart.series.map((series) => ({name: series.name, number: true}))], rows));
}

/// Moves the readout of a chart. `move`: a function of the index.
function moveCursor(svg, move) {
    const chart = drawn.get(svg.getAttribute('data-chart'));
    if (!chart || chart.points.length < 2) return;
    const last = chart.points.length - 1;
    const index = Math.max(0, Math.min(last, move(cursors.get(chart.id) ?? last, chart)));
    if (index === last) cursors.delete(chart.id);
    else cursors.set(chart.id, index);
    const fresh = chartOf(chart);
    const figure = svg.closest('figure');
    figure.querySelector('.legend').replaceWith(fresh.querySelector('.legend'));
    const at = fresh.querySelector('.cursor'), line = figure.querySelector('.cursor');
    for (const name of ['x1', 'x2']) line.setAttribute(name, at.getAttribute(name));
    if (document.activeElement === svg)
        svg.setAttribute('aria-label', figure.querySelector('.legend').textContent);
}

/// Listens for pointer and keys on all charts inside `root`.
export function followCharts(root) {
    root.addEventListener('pointermove', (event) => {
        const svg = event.target.closest('svg.plot');
        if (!svg) return;
        const box = svg.getBoundingClientRect();
        const WIDTH = svg.viewBox.baseVal.width;
        const share = ((event.clientX - box.left) / box.width * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT);
        moveCursor(svg, (_, chart) => {
            const from = chart.points[0].t, to = chart.points[chart.points.length - 1].t;
            const t = from + share * (to - from);
            let best = 0;
            chart.points.forEach((point, i) => {
                if (Math.abs(point.t - t) < Math.abs(chart.points[best].t - t)) best = i;
            });
            return best;
        });
    });
    root.addEventListener('pointerout', (event) => {
        const svg = event.target.closest('svg.plot');
        if (svg && !svg.contains(event.relatedTarget)) moveCursor(svg, () => Infinity);
    });
    root.addEventListener('keydown', (event) => {
        const svg = event.target.closest('svg.plot');
        const moves = {ArrowLeft: (i) => i - 1, ArrowRight: (i) => i + 1, PageUp: (i) => i - 20,
                       PageDown: (i) => i + 20, Home: () => 0, End: () => Infinity};
        if (!svg || !moves[event.key]) return;
        event.preventDefault();
        moveCursor(svg, moves[event.key]);
    });
}
