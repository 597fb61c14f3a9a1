import { performance } from 'node:perf_hooks';
import { costOf, textOf, usageOf } from './answers.mjs';

/**
 * undici's handler for one response. Resolves `done` to a description of what is wrong, or to undefined;
 * never rejects. Checks the whole response: status, text, model, usage, finish reason, and the end of
 * the stream in its dialect.
 */
export class AnswerReader {
  /** The gateway's request id, for its invoice. */
  requestId;
  events = 0;
  #status = 0;
  #cost;
  #chunks = [];
  #rest = '';
  #stream;
  #streamFault;
  #lastDataAtMs;
  #resolve;

  /**
   * @param request the request and its dialect: see `Workload.request`
   * @param target the server that responds
   * @param onGap receives the milliseconds between two arrivals of stream data
   */
  constructor(request, target, onGap) {
    this.request = request;
    this.target = target;
    this.onGap = onGap;
    if (request.isStreamed) this.#stream = request.dialect.openStream(request);
    this.done = new Promise((resolve) => (this.#resolve = resolve));
  }

  onRequestStart() {}

  onResponseStart(_controller, status, headers) {
    this.#status = status;
    this.requestId = headers['x-request-id'];
    this.#cost = headers['x-gateway-cost'];
  }

  onResponseData(_controller, chunk) {
    if (!this.request.isStreamed || this.#status !== 200) {
      this.#chunks.push(chunk);
      return;
    }
    if (this.onGap) {
      const nowMs = performance.now();
      if (this.#lastDataAtMs !== undefined) this.onGap(nowMs - this.#lastDataAtMs);
      this.#lastDataAtMs = nowMs;
    }
    this.#readEvents(chunk.toString('latin1'));
  }

  onResponseEnd() {
    this.#resolve(this.#findFault());
  }

  onResponseError(_controller, error) {
    this.#resolve(`${error.code ?? error.name}: ${error.message}`);
  }

  /** Cost of the request in credits, by the catalogue's prices. */
  get cost() {
    return costOf(usageOf(this.request.user));
  }

  #readEvents(text) {
    this.#rest += text;
    let start = 0;
    for (;;) {
      const end = this.#rest.indexOf('\n\n', start);
      if (end === -1) break;
      this.#readEvent(this.#rest.slice(start, end));
      start = end + 2;
    }
    this.#rest = this.#rest.slice(start);
  }

  #readEvent(event) {
    // A comment, which the gateway sends as a keep-alive.
    if (event.startsWith(':')) return;
    this.events++;
    try {
      this.#stream.read(event);
    } catch (error) {
      this.#streamFault ??= `an event cannot be parsed: ${error.message}`;
    }
  }

  #findFault() {
    if (this.#status !== 200) {
      const body = Buffer.concat(this.#chunks).toString('utf8');
      return `status ${this.#status}: ${body.slice(0, 200)}`;
    }
    return this.request.isStreamed ? this.#findStreamFault() : this.#findWholeFault();
  }

  #findStreamFault() {
    const fault = this.#streamFault ?? this.#stream.findFault();
    if (fault !== undefined) return fault;
    if (this.#rest !== '') return 'the stream ends within an event';
    return this.#compare(this.#stream);
  }

  #findWholeFault() {
    const answer = JSON.parse(Buffer.concat(this.#chunks).toString('utf8'));
    const shownCost = this.#cost === undefined ? undefined : Number(this.#cost);
    if (this.target.bills && shownCost !== this.cost) {
      return `x-gateway-cost is ${shownCost}, not ${this.cost}`;
    }
    return this.#compare(this.request.dialect.readWhole(answer));
  }

  #compare({ models, text, hasFinished, isDone, usage }) {
    const { user, promptCharacters } = this.request;
    const model = this.target.modelInAnswer(this.request);
    if (models.size !== 1 || !models.has(model)) return `the model is ${[...models].join(', ')}`;
    if (!hasFinished) return 'the answer does not say that it is complete';
    if (!isDone) return 'the stream does not end with its last event';
    if (text !== textOf(user, promptCharacters)) {
      return `the text is not ${user}'s: ${JSON.stringify(String(text).slice(0, 80))}`;
    }
    const { promptTokens, completionTokens } = usageOf(user);
    const isRight =
      usage?.promptTokens === promptTokens && usage.completionTokens === completionTokens;
    return isRight ? undefined : `the usage is ${JSON.stringify(usage)}`;
  }
}
