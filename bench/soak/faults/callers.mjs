import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import { AnswerReader } from '../../answer-reader.mjs';
import { costOf, usageOf } from '../../answers.mjs';
import { smallChat, streamedChat, streamedMessage, streamedResponse } from '../../workloads.mjs';
import { modelRow } from '../gateway-process.mjs';
import { OddReader } from '../irregular-reader.mjs';
import { VENDOR_TROUBLES } from './plan.mjs';

/** Longer than any response takes here. */
const ANSWER_LIMIT_MS = 40_000;
/** The maximum hold: 400 prompt tokens and 2,000 output tokens at the bench's prices. */
const MAX_COST = costOf({ promptTokens: 400, completionTokens: 2_000 });
/** Faults of a stream that reported a failure, or was cut after it did. */
const INCOMPLETE = [
  'the model is ',
  'the answer does not say that it is complete',
  'the stream does not end with its last event',
  'the stream ends within an event',
  'a block has not ended',
];
/** Fault of a response that could not be stored during a database outage. */
const NOT_KEPT = 'store is false, not true';
const KEPT_WAITING = /^UND_ERR_(?:HEADERS|BODY)_TIMEOUT/;
const BROKEN = /^(?:[A-Z][A-Z_]+|\w*Error): /;

const WORKLOADS = {
  chat: smallChat('chat'),
  stream: streamedChat('stream', 40),
  // One piece every 50 ms.
  'paced-stream': streamedChat('paced-stream', 30),
  message: streamedMessage('message', 30),
  response: streamedResponse('response', 30),
  background: smallChat('paced-background'),
  'leaves-stream': streamedChat('left-stream', 60),
  'leaves-early': smallChat('left-early'),
  'leaves-paced': streamedChat('paced-left', 40),
};
for (const trouble of VENDOR_TROUBLES) {
  for (const [prefix, kind] of [
    ['', 'alone'],
    ['spared-', 'spared'],
  ]) {
    WORKLOADS[`chat ${trouble} ${kind}`] = smallChat(`${prefix}chat-${trouble}`);
    WORKLOADS[`stream ${trouble} ${kind}`] = streamedChat(`${prefix}stream-${trouble}`, 40);
  }
}

/** Returns the catalogue rows of all requested models. */
export function catalogueRows() {
  return Object.entries(WORKLOADS).map(([name, { alias, model }]) => {
    const [, trouble, kind] = name.split(' ');
    const routes = [{ provider: 'bench', model: `${model}~${trouble}`, priority: 0 }];
    if (kind === 'spared') routes.push({ provider: 'spare', model, priority: 1 });
    return { ...modelRow(model, trouble && routes), id: alias };
  });
}

/** Sends the planned calls to available gateways and records what each caller saw. */
export class Callers {
  /** @type {import('./verdicts.mjs').Seen[]} */
  seen = [];
  /** Number of calls that found no gateway. */
  unsent = 0;
  #gateways;
  #keys;
  #pools;
  #numbers = 0;

  /** @param keys one per tenant */
  constructor(gateways, keys) {
    this.#gateways = gateways;
    this.#keys = keys;
    const limits = { headersTimeout: ANSWER_LIMIT_MS, bodyTimeout: ANSWER_LIMIT_MS };
    this.#pools = new Map(
      gateways.map(({ name, url }) => [name, new Pool(url, { ...limits, pipelining: 1 })]),
    );
  }

  /** Spreads calls evenly over a time. Resolves when the last one has ended. */
  async send(calls, seconds) {
    const startedMs = Date.now();
    const running = calls.map(async (call, index) => {
      const dueMs = startedMs + (index * seconds * 1_000) / calls.length;
      while (Date.now() < dueMs) await wait(dueMs - Date.now());
      await this.#sendOne(call);
    });
    await Promise.all(running);
  }

  async close() {
    for (const pool of this.#pools.values()) await pool.destroy();
  }

  async #sendOne(call) {
    const there = this.#gateways.filter(({ isThere }) => isThere);
    const gateway = there[Math.floor(call.instance * there.length)];
    if (!gateway) {
      this.unsent++;
      return;
    }
    const { kind, trouble, hasFallback } = call;
    const name = trouble ? `${kind} ${trouble} ${hasFallback ? 'spared' : 'alone'}` : kind;
    const workload = WORKLOADS[name];
    const request = workload.request('faults', this.#numbers++);
    const note = {
      alias: workload.alias,
      tenant: call.tenant,
      instance: gateway.name,
      cost: costOf(usageOf(request.user)),
      maxCost: MAX_COST,
      startedAtMs: Date.now(),
    };
    const saw = await this.#dispatch(call, request, gateway.name);
    // Refused before it was a request: no gateway listened.
    if (saw.fault?.includes('ECONNREFUSED')) this.unsent++;
    else this.seen.push({ ...note, ...saw, endedAtMs: Date.now() });
  }

  async #dispatch({ kind, tenant, leavesAfter }, request, instance) {
    const apiKey = this.#keys[tenant];
    if (kind === 'background') return this.#inBackground(request, apiKey, instance);
    if (kind.startsWith('leaves-')) {
      const isWhole = kind === 'leaves-early';
      const reader = isWhole
        ? new EarlyLeaver(leavesAfter * 30)
        : new OddReader(1 + Math.floor(leavesAfter * 38));
      await this.#pass(request, apiKey, instance, reader);
      const { requestId, status, failure } = reader;
      if (status !== undefined && status !== 200)
        return { verdict: 'refused', requestId, fault: `${status}` };
      return { verdict: 'left', requestId, fault: failure };
    }
    const target = { name: 'faults', bills: true, modelInAnswer: ({ alias }) => alias };
    const reader = new AnswerReader(request, target);
    const fault = await this.#pass(request, apiKey, instance, reader);
    return { verdict: verdictOf(fault), requestId: reader.requestId, fault };
  }

  async #pass(request, apiKey, instance, reader) {
    const { dialect, body } = request;
    const headers = { 'content-type': 'application/json', ...dialect.headers(apiKey) };
    this.#pools
      .get(instance)
      .dispatch({ method: 'POST', path: dialect.path, headers, body }, reader);
    return reader.done;
  }

  /** Requests a background response, which `findEndings` follows up. */
  async #inBackground(request, apiKey, instance) {
    const body = JSON.stringify({
      model: request.alias,
      background: true,
      max_output_tokens: 2_000,
      user: request.user,
      input: 'Say it.',
    });
    try {
      const answer = await this.#pools.get(instance).request({
        method: 'POST',
        path: '/v1/responses',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
        body,
      });
      const requestId = answer.headers['x-request-id'];
      const text = await answer.body.text();
      if (answer.statusCode !== 200) return { verdict: 'refused', requestId, fault: text };
      return { verdict: 'background', requestId, responseId: JSON.parse(text).id };
    } catch (error) {
      return { verdict: 'broken', fault: `${error.code ?? error.name}: ${error.message}` };
    }
  }

  /** Polls background responses. @returns how many are still running */
  async findEndings() {
    let open = 0;
    for (const seen of this.seen) {
      if (seen.verdict !== 'background' || isEnded(seen.status)) continue;
      const gateway = this.#gateways.find(({ isThere }) => isThere);
      const answer = await fetch(`${gateway.url}/v1/responses/${seen.responseId}`, {
        headers: { authorization: `Bearer ${this.#keys[seen.tenant]}` },
      });
      const body = await answer.json();
      seen.status = answer.status === 200 ? body.status : `a ${answer.status}`;
      if (!isEnded(seen.status)) open++;
    }
    return open;
  }
}

const isEnded = (status) => ['completed', 'failed', 'cancelled', 'incomplete'].includes(status);

/** Disconnects after a number of milliseconds, whatever has arrived. */
class EarlyLeaver extends OddReader {
  #afterMs;

  constructor(afterMs) {
    super(Infinity);
    this.#afterMs = afterMs;
  }

  onRequestStart(controller) {
    setTimeout(() => controller.abort(new Error('The caller disconnects.')), this.#afterMs);
  }
}

function verdictOf(fault) {
  if (fault === undefined || fault === NOT_KEPT) return 'delivered';
  if (fault.startsWith('status ')) return 'refused';
  if (KEPT_WAITING.test(fault)) return 'left';
  if (INCOMPLETE.some((words) => fault.startsWith(words))) return 'told';
  return BROKEN.test(fault) ? 'broken' : 'wrong';
}
