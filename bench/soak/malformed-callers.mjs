import { performance } from 'node:perf_hooks';
import net from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { pieceOf, textOf } from '../answers.mjs';
import { OddReader } from './irregular-reader.mjs';

/** For prompts: from the estimate without usage to the maximum that the hold covers. */
const PROMPT_CHARACTERS_PER_TOKEN = [4, 2];
/** Overhead per message, and a margin. */
const PROMPT_EXTRA_TOKENS = 20;
/** Pieces that split words take more tokens than their combined text. */
const LEAST_COUNT = 0.9;
const MOST_COUNT = 1.8;
/** The gateway's assumed speed of a route that has no measurements. */
const TOKENS_PER_SECOND = 100;
/** Time until the vendor responds, its pause and the gateway's limit: 2 s, more on a busy machine. */
const SILENT_SECONDS = 10;
/** The first event of a stream contains only the role. */
const EVENTS_BEFORE_TEXT = 1;
const HALF_BODY_MS = 200;

/** Invalid requests and the expected statuses. */
const BAD_REQUESTS = [
  { status: 400, body: '{"model":"bench/chat"}' },
  { status: 400, body: 'This is not JSON.' },
  { status: 400, body: '{"model":"bench/chat","messages":[{"role":"nobody","content":"x"}]}' },
  { status: 404, body: '{"model":"bench/none","messages":[{"role":"user","content":"x"}]}' },
];
const UNKNOWN_KEY = 'sk-unknown-00000000000000000000000000000000';

/** Callers that do anything but wait for a complete response. */
export class OddCallers {
  /** Descriptions of unexpected results; only the first few are kept. */
  faults = [];
  failures = 0;
  calls = 0;
  #gateway;
  #pool;

  constructor(gateway, pool) {
    this.#gateway = gateway;
    this.#pool = pool;
  }

  /** Makes calls at a fixed rate. Resolves when the last one has ended. */
  async atRate(perSecond, durationMs, act) {
    const calls = Math.round((perSecond * durationMs) / 1000);
    const startMs = performance.now();
    const running = new Set();
    for (let index = 0; index < calls; index++) {
      const dueMs = startMs + (index * 1000) / perSecond;
      while (performance.now() < dueMs) await wait(dueMs - performance.now());
      this.calls++;
      const call = act(index)
        .catch((error) => error.message)
        .then((fault) => {
          running.delete(call);
          if (fault !== undefined) this.#note(fault);
        });
      running.add(call);
    }
    await Promise.all(running);
  }

  /** Disconnects from a stream whose vendor is silent, so the generated output is known exactly. */
  async leaveSilent(workload, index, events) {
    const request = workload.request('leaver', index);
    const reader = await this.#send(request.body, events);
    const text = textUntil(request, events);
    return this.#expectCancelled(workload, request, reader, [text, text]);
  }

  /** Disconnects from a running stream, of which more may be on its way. */
  async leaveBusy(workload, index, events) {
    const request = workload.request('leaver', index);
    const reader = await this.#send(request.body, events);
    const whole = textOf(request.user, request.promptCharacters);
    return this.#expectCancelled(workload, request, reader, [textUntil(request, events), whole]);
  }

  /** Reads a stream that its vendor interrupts: the caller gets an error and pays nothing. */
  async readCut(workload, index) {
    const request = workload.request('reader', index);
    const reader = await this.#send(request.body);
    if (reader.status !== 200 || reader.requestId === undefined) return describe(reader);
    this.#gateway.books.expect(reader.requestId, {
      model: workload.alias,
      outcome: 'failed',
      source: 'none',
      cost: 0,
      promptTokens: [0, 0],
      completionTokens: [0, 0],
    });
    const isTold = reader.text.includes('"finish_reason":"error"');
    const claimsEnd = /\[DONE\]|"finish_reason":"stop"/.test(reader.text);
    return isTold && !claimsEnd && reader.isComplete ? undefined : describe(reader);
  }

  async sendBad(index) {
    const { status, body } = BAD_REQUESTS[index % BAD_REQUESTS.length];
    return findRefusalFault(await this.#send(Buffer.from(body)), status);
  }

  async sendUnknownKey(workload, index) {
    const { body } = workload.request('stranger', index);
    return findRefusalFault(await this.#send(body, Infinity, UNKNOWN_KEY), 401);
  }

  /** Sends half of a body and disconnects. */
  async leaveMidBody(workload, index) {
    const { body } = workload.request('leaver', index);
    const { hostname, port } = new URL(this.#gateway.url);
    const socket = net.connect({ host: hostname, port: Number(port) });
    socket.on('error', () => undefined);
    let answered = '';
    socket.on('data', (chunk) => (answered += chunk.toString('latin1')));
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: ${hostname}:${port}\r\n` +
        `authorization: Bearer ${this.#gateway.target.apiKey}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
    );
    socket.write(body.subarray(0, body.length / 2));
    await wait(HALF_BODY_MS);
    socket.destroy();
    return answered === '' ? undefined : `half a body was answered: ${answered.slice(0, 200)}`;
  }

  async #send(body, leaveAfterEvents = Infinity, apiKey = this.#gateway.target.apiKey) {
    const reader = new OddReader(leaveAfterEvents);
    this.#pool.dispatch(
      {
        method: 'POST',
        path: '/v1/chat/completions',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
        body,
      },
      reader,
    );
    await reader.done;
    return reader;
  }

  #expectCancelled(workload, { promptCharacters }, reader, [least, most]) {
    if (reader.status !== 200 || !reader.hasLeft) return describe(reader);
    this.#gateway.books.expect(reader.requestId, {
      model: workload.alias,
      outcome: 'cancelled',
      source: 'estimated',
      promptTokens: PROMPT_CHARACTERS_PER_TOKEN.map(
        (characters, index) =>
          Math.ceil(promptCharacters / characters) + index * PROMPT_EXTRA_TOKENS,
      ),
      completionTokens: [
        Math.floor(countTokens(least) * LEAST_COUNT),
        Math.ceil(countTokens(most) * MOST_COUNT) + TOKENS_PER_SECOND * SILENT_SECONDS,
      ],
    });
    return undefined;
  }

  #note(fault) {
    this.failures++;
    if (this.faults.length < 5) this.faults.push(fault);
  }
}

/** Returns the text of a stream's first events. */
function textUntil({ user, promptCharacters }, events) {
  let text = '';
  for (let index = 0; index < events - EVENTS_BEFORE_TEXT; index++) {
    text += pieceOf(user, index, promptCharacters);
  }
  return text;
}

function findRefusalFault(reader, status) {
  const isRefused = reader.status === status && reader.text.startsWith('{"error":');
  return isRefused ? undefined : `a refusal with ${status} was expected: ${describe(reader)}`;
}

function describe({ status, failure, text }) {
  return `status ${status}, ${failure ?? 'no failure'}: ${JSON.stringify(text.slice(-300))}`;
}
