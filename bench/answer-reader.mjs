import { performance } from 'node:perf_hooks';
import { costOf, textOf, usageOf } from './answers.mjs';

/**
 * undici's handler of one answer. Resolves `done` to what is wrong with the answer, or undefined;
 * never rejects. Each answer is compared as a whole: status, text, model, usage, and the stream's
 * finish reason and `[DONE]`.
 */
export class AnswerReader {
  /** The gateway's id of the request, for its invoice. */
  requestId;
  events = 0;
  #status = 0;
  #cost;
  #chunks = [];
  #rest = '';
  #streamed = { text: '', finishReason: undefined, usage: undefined, isDone: false };
  #lastDataAtMs;
  #resolve;

  /**
   * @param request what was asked: `user`, `promptCharacters`, `isStreamed`
   * @param target who answers
   * @param onGap is told the milliseconds between two arrivals of a stream's data
   */
  constructor(request, target, onGap) {
    this.request = request;
    this.target = target;
    this.onGap = onGap;
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

  /** What the request costs by the catalogue's prices, in credits. */
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
    const streamed = this.#streamed;
    this.events++;
    if (event === 'data: [DONE]') {
      streamed.isDone = true;
      return;
    }
    const chunk = JSON.parse(event.slice('data: '.length));
    if (chunk.model !== this.target.modelInAnswer(this.request.model)) {
      streamed.wrongModel = chunk.model;
    }
    const choice = chunk.choices[0];
    if (choice?.delta.content) streamed.text += choice.delta.content;
    if (choice?.finish_reason) streamed.finishReason = choice.finish_reason;
    if (chunk.usage) streamed.usage = chunk.usage;
  }

  #findFault() {
    if (this.#status !== 200) {
      const body = Buffer.concat(this.#chunks).toString('utf8');
      return `status ${this.#status}: ${body.slice(0, 200)}`;
    }
    return this.request.isStreamed ? this.#findStreamFault() : this.#findWholeFault();
  }

  #findStreamFault() {
    const { text, finishReason, usage, isDone, wrongModel } = this.#streamed;
    if (wrongModel !== undefined) return `the model is ${wrongModel}`;
    if (finishReason !== 'stop') return `the finish reason is ${finishReason}`;
    if (!isDone || this.#rest !== '') return 'the stream does not end with [DONE]';
    return this.#findTextFault(text) ?? this.#findUsageFault(usage);
  }

  #findWholeFault() {
    const answer = JSON.parse(Buffer.concat(this.#chunks).toString('utf8'));
    if (answer.model !== this.target.modelInAnswer(this.request.model)) {
      return `the model is ${answer.model}`;
    }
    const shownCost = this.#cost === undefined ? undefined : Number(this.#cost);
    if (this.target.bills && shownCost !== this.cost) {
      return `x-gateway-cost is ${shownCost}, not ${this.cost}`;
    }
    const fault = this.#findTextFault(answer.choices[0].message.content);
    return fault ?? this.#findUsageFault(answer.usage);
  }

  #findTextFault(text) {
    const { user, promptCharacters } = this.request;
    const expected = textOf(user, promptCharacters);
    if (text === expected) return undefined;
    return `the text is not ${user}'s: ${JSON.stringify(String(text).slice(0, 80))}`;
  }

  #findUsageFault(usage) {
    const expected = usageOf(this.request.user);
    const isRight =
      usage?.prompt_tokens === expected.promptTokens &&
      usage?.completion_tokens === expected.completionTokens;
    return isRight ? undefined : `the usage is ${JSON.stringify(usage)}`;
  }
}
