/**
 * A well-behaved tenant in a separate process, so that a busy attacking driver does not distort its
 * latencies. Arguments: origin and key. Between the messages `begin` (with a body) and `end` it sends
 * requests at a fixed rate; it replies to `end` with the figures.
 */
import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { percentile } from '../../statistics.mjs';

const EVERY_MS = 20;
const ANSWER_LIMIT_MS = 10_000;
/** Time for running requests at the end. */
const LAST_ANSWERS_MS = 3_000;

const [origin, apiKey] = process.argv.slice(2);
const dispatcher = new Agent({ connections: 100, keepAliveTimeout: 60_000 });
let run;

process.on('message', (message) => {
  if (message.type === 'begin') {
    run = { body: message.body, open: new Map(), latenciesMs: [], failures: 0 };
    run.timer = setInterval(ask, EVERY_MS, run);
  } else {
    end(run);
  }
});
process.on('disconnect', () => process.exit(0));

async function ask(run) {
  const startedMs = performance.now();
  const id = Symbol('request');
  run.open.set(id, startedMs);
  const isServed = await send(run.body);
  if (!run.open.delete(id)) return;
  run.latenciesMs.push(performance.now() - startedMs);
  if (!isServed) run.failures++;
}

async function send(body) {
  try {
    const response = await request(`${origin}/v1/chat/completions`, {
      method: 'POST',
      dispatcher,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body,
      headersTimeout: ANSWER_LIMIT_MS,
      bodyTimeout: ANSWER_LIMIT_MS,
    });
    await response.body.text();
    return response.statusCode === 200;
  } catch {
    return false;
  }
}

async function end(run) {
  clearInterval(run.timer);
  const limitMs = performance.now() + LAST_ANSWERS_MS;
  while (run.open.size > 0 && performance.now() < limitMs) await wait(10);
  for (const startedMs of run.open.values()) {
    run.latenciesMs.push(performance.now() - startedMs);
    run.failures++;
  }
  run.open.clear();
  const { latenciesMs, failures } = run;
  process.send({ p99Ms: percentile(latenciesMs, 0.99), asked: latenciesMs.length, failures });
}
