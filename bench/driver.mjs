import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import { AnswerReader } from './answer-reader.mjs';

/** Healthy targets respond faster. Without it, one lost response would hang the run. */
const ANSWER_LIMIT_MS = 30_000;

/** Sends one workload to one target and checks every answer. */
export class Driver {
  #pool;
  #sent = 0;
  #isFresh;
  /** Number of requests without a correct response, and descriptions of the first ones. */
  failures = 0;
  faults = [];

  /** @param options.isFresh opens a connection per request */
  constructor(target, workload, { connections, isFresh = false }) {
    this.#isFresh = isFresh;
    this.target = target;
    this.workload = workload;
    this.#pool = new Pool(target.origin, {
      connections,
      pipelining: 1,
      keepAliveTimeout: 60_000,
      headersTimeout: ANSWER_LIMIT_MS,
      bodyTimeout: ANSWER_LIMIT_MS,
    });
  }

  /**
   * Keeps a number of requests in flight for a time or until `maxRequests`. Resolves, after the last
   * response, to the number of requests and their durations.
   */
  async closedLoop({ concurrency, durationMs, maxRequests = Infinity }) {
    let nowMs = performance.now();
    const endMs = nowMs + durationMs;
    let requests = 0;
    const latenciesMs = [];
    const work = async () => {
      while (nowMs < endMs && requests < maxRequests) {
        requests++;
        const startMs = performance.now();
        await this.send();
        nowMs = performance.now();
        latenciesMs.push(nowMs - startMs);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    return { requests, latenciesMs };
  }

  /**
   * Sends at a fixed rate, however long responses take. Latencies count from the scheduled time, so a
   * stalled target cannot hide by delaying the next requests.
   *
   * @param options.until ends the loop, instead of a time, once it returns true
   */
  async openLoop({ perSecond, durationMs = Infinity, until = () => false }) {
    const most = Math.round((perSecond * durationMs) / 1000);
    const latenciesMs = [];
    let requests = 0;
    const startMs = performance.now();
    const answers = [];
    for (let index = 0; index < most && !until(); index++) {
      requests++;
      const scheduledMs = startMs + (index * 1000) / perSecond;
      while (performance.now() < scheduledMs) await wait(scheduledMs - performance.now());
      answers.push(
        this.send().then(() => {
          latenciesMs[index] = performance.now() - scheduledMs;
        }),
      );
    }
    await Promise.all(answers);
    return { requests, latenciesMs: Float64Array.from(latenciesMs) };
  }

  /** Opens streams one after the other within `rampMs` and reads them all to the end. */
  async parallelStreams({ streams, rampMs, onGap }) {
    let events = 0;
    const startMs = performance.now();
    const answers = [];
    for (let index = 0; index < streams; index++) {
      const dueMs = startMs + (index * rampMs) / streams;
      while (performance.now() < dueMs) await wait(dueMs - performance.now());
      answers.push(this.send(onGap).then((reader) => (events += reader.events)));
    }
    await Promise.all(answers);
    return { requests: streams, events };
  }

  /** Sends one request. Resolves when its response is complete and checked. */
  async send(onGap) {
    const request = this.workload.request(this.target.name, this.#sent++);
    const reader = new AnswerReader(request, this.target, onGap);
    this.#pool.dispatch(
      {
        method: 'POST',
        reset: this.#isFresh,
        path: this.target.path ?? request.dialect.path,
        headers: {
          'content-type': 'application/json',
          ...(this.target.headers ?? request.dialect.headers(this.target.apiKey)),
        },
        body: request.body,
      },
      reader,
    );
    const fault = await reader.done;
    if (fault === undefined) {
      this.target.recordAnswer(this.workload.alias, reader);
    } else {
      this.failures++;
      if (this.faults.length < 3)
        this.faults.push(`${this.target.name}, ${request.user}: ${fault}`);
    }
    return reader;
  }

  async close() {
    await this.#pool.destroy();
  }
}
