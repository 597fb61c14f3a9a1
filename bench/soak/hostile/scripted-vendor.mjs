/**
 * A vendor with known usage in a separate process. It generates tokens at a fixed pace, and reports at its
 * control address how many it had generated for each response when the connection closed.
 *
 * The request's `user` is a query string that controls it:
 *   id            name of the call
 *   in            input tokens by its own count
 *   reasoning     hidden tokens generated first, `max` for as many as allowed
 *   text          tokens of text
 *   pace          tokens per second, hidden and shown
 *   script        of the text: latin, chinese, hindi, emoji
 *   pause         milliseconds between the finish reason and the usage
 *   cut           interrupts the stream after this many tokens
 *   usage         usage to claim, as JSON, instead of the real one
 * Without parameters, a call gets a short response at once.
 */
import { once } from 'node:events';
import http from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { listen, readBody } from '../../serving.mjs';
import { PROMPT_TOKENS } from './prompts.mjs';
import { LATIN_WORDS } from './words.mjs';
import { DIALECTS } from './vendor-answers.mjs';

/** Maximum output of the models, as in the catalogue. */
const MODEL_MAXIMUM = 32_000;
const TICK_MS = 20;
/** Each word is one token to a tokenizer, in other scripts approximately. */
const WORDS = {
  latin: LATIN_WORDS,
  chinese: [...'我们今天在图书馆里看了很多有意思的书'],
  hindi: 'हम आज पुस्तकालय में किताब पढ़ रहे हैं'.split(/(?= )/),
  emoji: ['😀', '🚀', '🎉', '🌍'],
};

const calls = new Map();

const server = http.createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
});
server.keepAliveTimeout = 0;
const control = http.createServer((_request, response) => {
  response.end(JSON.stringify([...calls.values()].map(tell)));
});
control.listen(0, '127.0.0.1');
await once(control, 'listening');
console.log(`is controlled at http://127.0.0.1:${control.address().port}`);
await listen(server);

async function answer(request, response) {
  const dialect = DIALECTS[request.url];
  if (dialect === undefined) return answerOther(request, response);
  const body = JSON.parse(await readBody(request));
  const call = readCall(dialect, body);
  if (call.id !== undefined) calls.set(call.id, call);
  // `close` always fires; only a completed response had its usage sent.
  response.on('close', () => close(call, response.writableEnded ? 'ended' : 'left'));
  if (body.stream) await stream(dialect, call, response);
  else await answerWhole(dialect, call, response);
}

function readCall(dialect, { model, ...body }) {
  const plan = new URLSearchParams(dialect.userOf(body) ?? '');
  const number = (name, otherwise) => (plan.has(name) ? Number(plan.get(name)) : otherwise);
  const limit = dialect.limitOf(body);
  const most = Math.min(limit ?? Infinity, MODEL_MAXIMUM);
  const text = number('text', 3);
  const reasoning = plan.get('reasoning') === 'max' ? most - text : number('reasoning', 0);
  const total = reasoning + text;
  const call = {
    id: plan.get('id') ?? undefined,
    model,
    limit,
    input: number('in', PROMPT_TOKENS),
    reasoning,
    total,
    pace: number('pace', Infinity),
    words: WORDS[plan.get('script') ?? 'latin'],
    pauseMs: number('pause', 0),
    cutAfter: number('cut', Infinity),
    startedMs: performance.now(),
    state: 'open',
  };
  call.usage = plan.has('usage')
    ? JSON.parse(plan.get('usage'))
    : dialect.usage({ input: call.input, output: total, reasoning });
  return call;
}

/** Returns the tokens generated so far, including hidden and unsent ones. */
function madeBy(call) {
  if (call.pace === Infinity) return call.total;
  const pastMs = performance.now() - call.startedMs;
  return Math.min(call.total, Math.floor((pastMs * call.pace) / 1000));
}

function close(call, state) {
  if (call.state !== 'open') return;
  call.made = madeBy(call);
  call.state = state;
}

function tell(call) {
  const { id, model, limit, input, total, state } = call;
  return { id, model, limit, input, total, state, made: call.made ?? madeBy(call) };
}

async function stream(dialect, call, response) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const write = async (text) => {
    if (!response.write(text)) await drained(response);
  };
  for (const piece of dialect.start(call)) await write(piece);
  let sent = call.reasoning;
  while (sent < call.total && !response.destroyed) {
    const made = madeBy(call);
    if (made > sent) {
      await write(dialect.text(call, textOf(call, sent, made)));
      sent = made;
      if (sent >= call.cutAfter) return response.destroy();
    }
    if (sent < call.total) await wait(TICK_MS);
  }
  if (response.destroyed) return;
  const whole = textOf(call, call.reasoning, call.total);
  for (const piece of dialect.finish(call, whole)) await write(piece);
  if (call.pauseMs > 0) await wait(call.pauseMs);
  for (const piece of dialect.end(call, whole)) await write(piece);
  response.end();
}

async function answerWhole(dialect, call, response) {
  while (madeBy(call) < call.total && !response.destroyed) await wait(TICK_MS);
  const text = textOf(call, call.reasoning, call.total);
  sendJson(response, dialect.whole(call, text));
}

function textOf({ words }, from, until) {
  const pieces = [];
  for (let index = from; index < until; index++) pieces.push(words[index % words.length]);
  return pieces.join('');
}

/** Embeddings and transcripts, for which only prices matter. */
async function answerOther(request, response) {
  if (request.url === '/v1/embeddings') {
    const { input, model } = JSON.parse(await readBody(request));
    const count = Array.isArray(input) ? input.length : 1;
    return sendJson(response, {
      object: 'list',
      data: Array.from({ length: count }, (_, index) => ({
        object: 'embedding',
        index,
        embedding: [0.5],
      })),
      model,
      usage: { prompt_tokens: count, total_tokens: count },
    });
  }
  request.resume();
  await once(request, 'end');
  return sendJson(response, { text: 'Hi' });
}

function sendJson(response, value) {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

function drained(response) {
  return new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
}
