// Requests to the node that served this page. The token is a variable of this module: it is in no
// storage and in no URL, and ends with the page.

const TIMEOUT = 8000;  // milliseconds; the node's own limit for slow answers is about two seconds

let token = '';
let refused = false;  // the node answered 401 to the present token

export const hasToken = () => token !== '';
export const tokenIsRefused = () => refused;
export function setToken(text) {
    token = text;
    refused = false;
}

/// The node did not answer at all.
export class Silence extends Error {}

/// Sends one request, with the present token or the one in `used`. Returns {status, text, json, outdated}; json is null for other types, and
/// `outdated` says that the reader has entered another token meanwhile. Throws Silence.
export async function send(path, order, used = token) {
    const headers = {};
    if (used) headers.Authorization = `Bearer ${used}`;
    if (order !== undefined) headers['Content-Type'] = 'application/json';
    try {
        const answer = await fetch(path, {
            method: order === undefined ? 'GET' : 'POST',
            headers,
            body: order === undefined ? undefined : JSON.stringify(order),
            cache: 'no-store',
            credentials: 'omit',
            redirect: 'error',
            referrerPolicy: 'no-referrer',
            signal: AbortSignal.timeout(TIMEOUT),
        });
        const text = await answer.text();
        // Open paths answer whatever the token is, so their answers do not speak for it.
        if (answer.status === 401 && token && used === token) refused = true;
        let json = null;
        try {
            json = JSON.parse(text);
        } catch {
            // A sentence in place of JSON.
        }
        return {status: answer.status, text: text.trim(), json, outdated: used !== token};
    } catch (error) {
        throw new Silence(error.name === 'TimeoutError'
            ? `it has not answered within ${TIMEOUT / 1000} s` : 'no connection');
    }
}

/// Why an answer holds nothing to show, in words with the remedy. Empty for a usable answer.
export function obstacle(answer) {
    if (!answer) return 'Waiting for the node.';
    if (answer.status === 401)
        return token ? 'The node refuses this token. Enter the one in admin.token of its configuration.'
                     : 'This needs the token of the admin port. Use “Enter the token”.';
    if (answer.status === 403)
        return `The node refuses this request: ${answer.text} Without admin.token it shows this to ` +
               'loopback only: open the page on the machine of the node, or through a tunnel (ssh -L).';
    if (answer.status === 404) return 'This version of the node does not show this.';
    if (answer.status !== 200 && answer.status !== 202)
        return `The node answers with status ${answer.status}: ${answer.text}`;
    return answer.json === null ? 'The answer is not what a hearsay node sends.' : '';
}
