import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'undici';
import { AnswerReader } from './answer-reader.mjs';

/** No answer of a healthy target takes so long; without it one lost answer would stop the run. */
const ANSWER_LIMIT_MS = 30_000;

/** Sends one workload to one target and checks every answer. */
export class Driver {
  #pool;
  #sent = 0;
  #isFresh;
  /** Requests without a correct answer, and the first of them in words. */
  failures = 0;
  faults = [];

  /** @param options.isFresh whether each request is the only one of its connection */
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
   * Keeps so many requests under way, for a time or until there were `maxRequests`. Resolves when
   * the last one is answered, to how many there were and how long each took.
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
   * Sends at a fixed rate, however long the answers take. Latencies count from the scheduled
   * moment, so that a target that stalls cannot hide it by delaying what would have come next.
   *
   * @param options.until ends it instead of a time, once it says so
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

  /** Opens so many streams, one after the other within `rampMs`, and reads them all to their ends. */
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

  /** Sends one request; resolves when its answer is over and checked. */
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
