// The panel “Objects”: one URL explained, and purges.
import {obstacle, send} from './api.js';
import {amount, byId, bytes, count, h, isNumber, lasting, milliseconds, nodeName, table, update} from './dom.js';
import {CHOICES, HAS, HERE, VERDICTS} from './words.js';

const FOR_EVER = 2147483647;

export async function explain(url) {
    const answer = await send('/api/v1/explain?url=' + encodeURIComponent(url));
    const why = answer.status === 400 ? answer.text : obstacle(answer);
    update(byId('explanation'), why ? h('p', {class: 'empty'}, why) : explanation(answer.json));
    return answer;
}

const row = (name, ...value) => [h('dt', null, name), h('dd', null, ...value)];

function explanation(page) {
    return [
        h('dl', {class: 'facts'},
            row('Key', h('code', null, page.url)),
            row('At this node', here(page)),
            isNumber(page.age_seconds) ? row('Age', `${lasting(page.age_seconds)} since the origin sent or confirmed it`) : null,
            isNumber(page.lifetime_seconds) ? row('Freshness lifetime', page.lifetime_seconds >= FOR_EVER ? 'for ever' : lasting(page.lifetime_seconds)) : null,
            row('Rule', page.rule ? [h('code', null, page.rule), page.follow_redirects ? ', follows redirects' : '',
                                     page.authorize ? ', the origin confirms each use' : ''] : 'none'),
            isNumber(page.variants) ? row('Variants', `${count(page.variants)} in memory`) : null,
            isNumber(page.body_bytes) ? row('Body', bytes(page.body_bytes) +
                (page.blocks ? `, in ${amount(page.blocks.count, 'block')} of ${bytes(page.blocks.bytes)}` : '')) : null,
            stored(page),
            page.refused ? row('A client gets', page.refused) : null,
            page.blocklist ? row('Blocklist', `${page.blocklist.entry} (${page.blocklist.action})`) : null,
            page.destination_denied ? row('Refused by forward.destinations', page.destination_denied) : null,
            page.refused ? null : row('Origin', page.origin ? [h('code', null, page.origin), page.origin_answer_seconds > 0
                ? `, answers after ${milliseconds(1000 * page.origin_answer_seconds)}` : ', time of answers not known'] : 'none'),
            page.origin_addresses?.length ? row('Addresses of the origin', page.origin_addresses.join(', ')) : null,
            page.origin_fault ? row('Fault', page.origin_fault) : null,
            page.target_refused ? row('A client gets', `${page.target_refused}, unless this node or a peer has the content`) : null,
            page.servers?.length ? row('Servers, in turn', page.servers.join(', then ')) : null,
            page.refused ? null : row('A miss would ask', whom(page)),
            page.fetched_by ? row('Fetched by', `${page.fetched_by}, which others follow`)
                : page.meeting_point && page.peers?.length ? row('Who fetches it', `${page.meeting_point} knows`) : null,
            page.renewed_by ? row('Renewed by', page.renewed_by) : null),
        page.peers?.length ? peers(page.peers) : h('p', {class: 'hint'}, 'This node has no peers.')];
}

function here(page) {
    const words = HERE[page.here] || page.here;
    if (!isNumber(page.ttl_seconds)) return words;
    if (page.authorize) return 'stored; the origin confirms each use';
    if (page.ttl_seconds >= FOR_EVER) return `${words} for ever`;
    return page.ttl_seconds >= 0 ? `${words}, for ${lasting(page.ttl_seconds)} more` : `${words}; stale for ${lasting(-page.ttl_seconds)}`;
}

/// Why the response is stored or not, as far as the node remembers.
function stored(page) {
    if (page.not_stored && page.here !== 'fresh' && page.here !== 'stale') {
        const [why, todo] = VERDICTS[page.not_stored.verdict] || [page.not_stored.verdict, ''];
        return row('Why it was not stored', `${why} `, h('span', {class: 'hint'}, `(${page.not_stored.verdict}, ${lasting(page.not_stored.seconds_ago)} ago)`),
                   todo ? h('p', {class: 'todo'}, h('b', null, 'What to do: '), todo) : null);
    }
    if (page.here === 'absent' && !page.refused)
        return row('Why it is not stored', 'This node remembers no refusal. Nobody has asked for it lately, it was evicted or purged, or it ended.');
    return null;
}

function whom(page) {
    const turns = (page.peers || []).filter((peer) => peer.turn > 0).sort((a, b) => a.turn - b.turn).map((peer) => peer.node);
    if (turns.length === 0)
        return page.just_invalidated ? 'the origin: it was invalidated less than two seconds ago' : 'the origin';
    if (page.beside_the_origin) return `the origin, and ${turns[0]} beside it to learn how far it is`;
    return `${turns.join(', then ')}, then the origin`;
}

const verdict = (peer) => peer.claims && peer.has === 'absent' ? ' (a false hit)' : !peer.claims && peer.has === 'has' ? ' (a false miss)' : '';

function peers(list) {
    return table('Peers', [{name: 'peer'}, {name: 'summary claims it'}, {name: 'has it'}, {name: 'choice'}, {name: 'round trip', number: true}],
        list.map((peer) => ({key: peer.node, cells: [
            nodeName(peer.node), peer.claims ? 'yes' : 'no', (peer.has === null ? 'not asked' : HAS[peer.has] || peer.has) + verdict(peer),
            (peer.turn ? `asked as number ${peer.turn}` : CHOICES[peer.choice] || peer.choice),
            peer.round_trip_seconds > 0 ? milliseconds(1000 * peer.round_trip_seconds) : '–']})));
}

const AWAY = 'It drops the content when the link is up again; until then it goes on serving its own copies.';

export const PURGE_LABELS = {urls: 'URL', tags: 'Tag', prefixes: 'URL that ends with /', rules: 'Name of the rule'};

/// The words of the confirmation, and the order.
export function purgeOrder(nodes) {
    const kind = byId('purge-kind').value, value = byId('purge-value').value.trim(), soft = byId('purge-soft').checked;
    const what = {
        urls: 'the URL below, with all its variants and blocks', tags: 'all responses with the tag below',
        prefixes: 'all URLs that begin with the text below', rules: 'all responses that the rule below judged last',
    }[kind];
    const away = (nodes || []).filter((node) => ['down', 'silent', 'refused'].includes(node.state)).map((node) => node.node);
    const size = nodes?.length > 1 ? `all ${count(nodes.length)} nodes` : nodes?.length ? 'the only node' : 'all nodes';
    return {
        title: soft ? 'Purge softly?' : 'Purge?', go: soft ? 'Purge softly' : 'Purge',
        text: [
            h('p', null, soft ? `On ${size} of the cluster, this makes ${what} stale:` : `On ${size} of the cluster, this drops ${what}:`),
            h('p', {class: 'named'}, value),
            h('p', null, soft ? 'The next request for it asks the origin whether it has changed.' : 'Clients get it again from the origin. It cannot be undone.'),
            away.length ? h('p', null, `No link to ${away.slice(0, 6).join(', ')}. ${AWAY}`) : null],
        path: '/api/v1/purge', order: {[kind]: [value], ...(soft ? {soft: true} : {})}, result: 'purge-result', show: (answer) => purgeResult(answer, soft),
    };
}

function purgeResult(answer, soft) {
    const {objects, confirmed = [], pending = [], away = []} = answer.json;
    return h('div', {class: pending.length ? 'warning note' : 'done note'},
        h('p', null, `This node ${soft ? 'made stale' : 'dropped'} ${amount(objects, 'object')}. ` + (confirmed.length ? `Confirmed by ${confirmed.join(', ')}.` : '')),
        pending.length ? h('p', null, `Not confirmed yet by ${pending.join(', ')}. The node goes on trying.`) : null,
        away.length ? h('p', null, `No link to ${away.join(', ')}. ${AWAY}`) : null);
}
