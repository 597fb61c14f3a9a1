/**
 * A faulty vendor in a separate process: it forwards to another vendor and spoils the responses. The
 * model name selects the fault, `<model>~<trouble>`, or a `POST /<mode>` to the control address selects
 * it for all. Argument: the URL of the other vendor.
 *
 * With `~often` after the trouble, three calls in five fail: the route fails all the time, but never
 * often enough in a row to be paused.
 */
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent, request as send } from 'undici';
import { listen, readBody } from '../serving.mjs';

/** Events of a stream that are forwarded before it is cut or falls silent. */
const EVENTS_BEFORE_TROUBLE = 10;
/** Calls that fail with `~often`: the first three of every five. */
const OFTEN = { of: 5, troubled: 3 };
const GARBAGE_EVENT = 'data: {"choices":[{{{\n\n';
/** Delay between the last text of a stream and its usage and end. */
const USAGE_DELAY_MS = 1_500;
/** Number of those last events. */
const LAST_EVENTS = 2;
const FLOOD_EVENTS = 1_280;
const FLOOD_EVENT_CHARACTERS = 4_096;

const [behind] = process.argv.slice(2);
const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
const calls = new Map();
let mode = 'passing';
let brokenCalls = 0;

const TROUBLES = {
  500: (_body, response) => sendError(response, 500),
  429: (_body, response) => sendError(response, 429),
  /** Requests a pause so long that the route is paused at once. */
  overloaded: (_body, response) => sendError(response, 429, { 'retry-after': '5' }),
  reset: (_body, response) => response.socket.resetAndDestroy(),
  /** Ends before the first content. */
  'cut-early': (body, response) => passSome(body, response, 1, () => response.destroy()),
  'cut-late': (body, response) =>
    passSome(body, response, EVENTS_BEFORE_TROUBLE, () => response.destroy()),
  silent: (body, response) => passSome(body, response, EVENTS_BEFORE_TROUBLE, () => undefined),
  /** Returns something other than a response, as a proxy in between might. */
  garbage: (body, response) => {
    response.writeHead(200, { 'content-type': body.stream ? 'text/event-stream' : 'text/html' });
    response.end(body.stream ? GARBAGE_EVENT : '<html>Welcome!</html>');
  },
  'garbage-late': (body, response) =>
    passSome(body, response, EVENTS_BEFORE_TROUBLE, () => response.end(GARBAGE_EVENT)),
  'usage-late': sendUsageLate,
  flood,
};

const MODES = {
  passing: undefined,
  failing: TROUBLES[500],
  /** Never responds to every other call. */
  breaking: (body, response) => {
    if (brokenCalls++ % 2 === 0) TROUBLES.reset(body, response);
  },
};

const server = http.createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
});
// The gateway closes idle connections; no header tells it when to.
server.keepAliveTimeout = 0;
const control = http.createServer((request, response) => {
  setMode(request.url.slice(1)).then(
    (isKnown) => response.writeHead(isKnown ? 200 : 404).end(),
    () => response.writeHead(500).end(),
  );
});
control.listen(0, '127.0.0.1');
await once(control, 'listening');
console.log(`is controlled at http://127.0.0.1:${control.address().port}`);
await listen(server);
const { port } = server.address();

/** `refusing` closes the port and every connection; any other mode opens it again. */
async function setMode(wanted) {
  if (wanted !== 'refusing' && !(wanted in MODES)) return false;
  if (wanted === 'refusing' && server.listening) {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  } else if (wanted !== 'refusing' && !server.listening) {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  }
  mode = wanted;
  return true;
}

async function answer(request, response) {
  const body = JSON.parse(await readBody(request));
  const [model, trouble, often] = body.model.split('~');
  body.model = model;
  const spoil = MODES[mode] ?? (isDue(trouble, often) ? TROUBLES[trouble] : undefined);
  if (spoil) await spoil(body, response);
  else await passSome(body, response, Infinity, () => response.end());
}

function isDue(trouble, often) {
  if (trouble === undefined || often === undefined) return trouble !== undefined;
  const call = calls.get(trouble) ?? 0;
  calls.set(trouble, call + 1);
  return call % OFTEN.of < OFTEN.troubled;
}

async function sendUsageLate(body, response) {
  const answered = await ask(body);
  const text = await answered.body.text();
  const events = text.split(/(?<=\n\n)/);
  response.writeHead(answered.statusCode, { 'content-type': answered.headers['content-type'] });
  response.write(events.slice(0, -LAST_EVENTS).join(''));
  await wait(USAGE_DELAY_MS);
  response.end(events.slice(-LAST_EVENTS).join(''));
}

function ask(body) {
  return send(`${behind}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    dispatcher: agent,
  });
}

/** Forwards the other vendor's response, or a number of its events, and then calls `end`. */
async function passSome(body, response, events, end) {
  const answered = await ask(body);
  response.on('close', () => answered.body.destroy());
  answered.body.on('error', () => undefined);
  response.writeHead(answered.statusCode, { 'content-type': answered.headers['content-type'] });
  let left = events;
  for await (const chunk of answered.body) {
    const text = chunk.toString('latin1');
    const length = lengthOfEvents(text, left);
    left -= text.slice(0, length).split('\n\n').length - 1;
    if (!response.write(chunk.subarray(0, length))) await drained(response);
    if (left === 0) break;
  }
  // Written data must be sent before the connection is cut.
  await wait(10);
  end();
}

/** Returns the length of a text's first events; of the whole text if it has fewer. */
function lengthOfEvents(text, events) {
  let length = 0;
  for (let count = 0; count < events; count++) {
    const end = text.indexOf('\n\n', length);
    if (end === -1) return text.length;
    length = end + 2;
  }
  return length;
}

/** Sends 5 MB of text as fast as the socket accepts it. */
async function flood(body, response) {
  const event = (delta, finish) =>
    `data: {"id":"chatcmpl-flood","object":"chat.completion.chunk","created":1790000000,` +
    `"model":"${body.model}","choices":[{"index":0,"delta":${JSON.stringify(delta)},` +
    `"finish_reason":${finish}}]}\n\n`;
  const content = 'flood '.repeat(FLOOD_EVENT_CHARACTERS / 6);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let index = 0; index < FLOOD_EVENTS && !response.destroyed; index++) {
    if (!response.write(event({ content }, 'null'))) await drained(response);
  }
  response.end(`${event({}, '"stop"')}data: [DONE]\n\n`);
}

function drained(response) {
  return new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
}

function sendError(response, status, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ error: { message: `trouble ${status}`, type: 'trouble' } }));
}
