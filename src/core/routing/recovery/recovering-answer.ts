import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CanonicalEvent, RouteEvent } from '../../../canonical/canonical-event.js';
import { countCodePoints, estimateTokens } from '../../../canonical/prompt-size.js';
import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import type { GatewayMetrics } from '../../../platform/metrics/gateway-metrics.js';
import { UpstreamError, type UpstreamFailure } from '../../../vendors/upstream-error.js';
import type { Upstream } from '../../../vendors/upstream.js';
import { EVENTS_PER_TURN, type BegunAnswer } from '../opened-answer.js';
import { isDearer } from '../order-routes.js';
import type { Plan, PlannedRoute } from '../plan.js';
import type { FirstAnswer, RouteFallback } from '../route-fallback.js';
import { AnswerSoFar } from './answer-so-far.js';
import { continuedRequest } from './continued-request.js';
import { cutTail } from './cut-tail.js';
import { Continuation } from './continuation.js';

/** So many routes are asked to go on with one answer. */
const MAX_TRIES = 4;

/** Failures after which the same route may go on itself, where there is no other. */
const PASSING: ReadonlySet<UpstreamFailure> = new Set(['reset', 'cut', 'server', 'timeout']);
/** … and after which nobody is asked, as they are no fault of the vendor's. */
const NOT_VENDORS: ReadonlySet<UpstreamFailure> = new Set(['slow_reader', 'caller']);

/** What a part may begin with, before any of its text. */
const MAY_PRECEDE_TEXT: ReadonlySet<CanonicalEvent['type']> = new Set([
  'start',
  'text',
  'reasoning',
  'usage',
]);

const OVER: IteratorResult<never, undefined> = { done: true, value: undefined };

/** What an answer that goes on depends on besides its plan. */
export interface RecoverySources {
  readonly fallback: RouteFallback<CanonicalEvent>;
  readonly metrics: Pick<GatewayMetrics, 'observeRecovery'>;
  upstreamOf(route: PlannedRoute): Pick<Upstream, 'signsReasoning' | 'continuesPrefill'>;
}

/** What a route adds that goes on with an answer. */
interface Part {
  readonly seam: Continuation;
  /** The answer's text before it. */
  readonly before: string;
  /** Of the prompt by which it was asked for, beside the caller's own. */
  readonly addedTokens: number;
}

/**
 * An answer that another route goes on with when it breaks off after its first content, so that its
 * reader sees one text, one end and one usage. Of the routes that go on nothing is shown but text that
 * is new, and what comes behind it.
 */
export class RecoveringAnswer implements BegunAnswer<CanonicalEvent | RouteEvent> {
  held: readonly (CanonicalEvent | RouteEvent)[];
  readonly rest: AsyncIterator<CanonicalEvent>;
  private readonly first: PlannedRoute;
  private readonly soFar = new AnswerSoFar();
  private source: AsyncIterator<CanonicalEvent>;
  /** What the first route counted as it began. */
  private begun: Usage | undefined;
  /** The latest, once the first route's answer has broken off. */
  private part: Part | undefined;
  /** Of it what is to be read next. */
  private ready: CanonicalEvent[] = [];
  private tries = 0;

  constructor(
    private readonly plan: Plan,
    private answer: FirstAnswer<CanonicalEvent>,
    private readonly sources: RecoverySources,
  ) {
    const { attempt, droppedParams, held, rest } = answer;
    this.first = attempt.route;
    this.held = [{ type: 'route', route: this.first, droppedParams }, ...held];
    this.source = rest;
    for (const event of held) this.note(event);
    this.rest = { next: () => this.next(), return: () => this.end() };
  }

  complete(): void {
    this.answer.tried.completed();
  }

  /** What `rest` throws has been noted and put in words. */
  toError(failure: unknown): unknown {
    return failure;
  }

  private get charged(): PlannedRoute {
    return this.plan.dearerPart ?? this.first;
  }

  private async next(): Promise<IteratorResult<CanonicalEvent>> {
    for (;;) {
      const ready = this.ready.shift();
      if (ready) return { done: false, value: ready };
      try {
        const result = await this.source.next();
        if (result.done) return OVER;
        this.take(result.value);
      } catch (failure) {
        const told = this.noteBreak(failure);
        // All of it has been read, but for the count of its tokens.
        if (this.soFar.isFinished && failure instanceof UpstreamError) return OVER;
        if (!(await this.isGoneOnWith(failure))) throw told;
      }
    }
  }

  private async end(): Promise<IteratorResult<CanonicalEvent>> {
    await this.source.return?.();
    return OVER;
  }

  /** Looks for a route that goes on. @throws CallerGoneError when nobody waits any more */
  private async isGoneOnWith(failure: unknown): Promise<boolean> {
    const { plan, sources, soFar } = this;
    const { route } = this.answer.attempt;
    if (!(failure instanceof UpstreamError) || NOT_VENDORS.has(failure.failure)) return false;
    if (failure.isRequestOver || failure.isBeyondLimit || plan.callerGone.aborted) return false;
    const canGoOn = soFar.canGoOn(sources.upstreamOf(route).signsReasoning === true);
    const isGoneOn = canGoOn && (await this.isGoneOnByAny(this.nextRoutes(route, failure)));
    sources.metrics.observeRecovery(isGoneOn ? 'continued' : canGoOn ? 'failed' : 'refused');
    return isGoneOn;
  }

  private async isGoneOnByAny(routes: readonly PlannedRoute[]): Promise<boolean> {
    for (const next of routes) {
      if (this.tries++ >= MAX_TRIES) return false;
      if (await this.isGoneOnBy(next)) return true;
    }
    return false;
  }

  /** Those behind the one that broke off; where there is none the same again, if that may help. */
  private nextRoutes(route: PlannedRoute, { failure }: UpstreamError): readonly PlannedRoute[] {
    const { routes, recovery } = this.plan;
    const behind = routes
      .slice(routes.indexOf(route) + 1)
      .filter(({ model }) => recovery === 'any' || model === this.first.model);
    return behind.length === 0 && PASSING.has(failure) ? [route] : behind;
  }

  /** Asks a route to go on, and reads until it is known whether it does. */
  private async isGoneOnBy(route: PlannedRoute): Promise<boolean> {
    const { request } = this.plan;
    const before = this.soFar.text;
    const cut = cutTail(before);
    const upstream = this.sources.upstreamOf(route);
    const isPrefilled = upstream.continuesPrefill?.(request, route.upstreamModel) === true;
    const ask = async (prefills: boolean) => {
      continued = continuedRequest(request, cut, prefills, tokensIn(cut.said));
      return this.sources.fallback.goOn(route, continued);
    };
    let continued = request;
    let answer = await ask(isPrefilled);
    // Some of a vendor's models refuse to go on with a turn; those can be asked to.
    const isRefused = isPrefilled && this.plan.attempts.at(-1)?.outcome === 'caller';
    if (!answer && isRefused) answer = await ask(false);
    if (!answer) return false;
    const { attempt } = answer;
    attempt.continuesAt = countCodePoints(before);
    this.answer = answer;
    this.source = eventsOf(answer);
    this.part = {
      seam: new Continuation(before, cut.tail),
      before,
      addedTokens: continued.promptSize.tokens - request.promptSize.tokens,
    };
    try {
      if (await this.isJoined(this.part.seam)) {
        if (isDearer(route, this.charged)) this.plan.dearerPart = route;
        return true;
      }
    } catch (failure) {
      const told = this.noteBreak(failure);
      if (failure instanceof UpstreamError) return false;
      throw told;
    }
    attempt.outcome = 'unjoined';
    attempt.usage ??= this.usedByPart();
    await this.source.return?.();
    return false;
  }

  /** Reads until the route has said again what it was to say, or something else. */
  private async isJoined(seam: Continuation): Promise<boolean> {
    while (!seam.isJoined && !seam.isUnjoined) {
      const result = await this.source.next();
      if (result.done || !MAY_PRECEDE_TEXT.has(result.value.type)) break;
      this.take(result.value);
    }
    return seam.isJoined;
  }

  /** Makes ready what the reader is to see of an event. */
  private take(event: CanonicalEvent): void {
    const shown = this.part ? this.shownOf(event, this.part) : event;
    if (!shown) return;
    this.note(shown);
    this.ready.push(shown);
  }

  private shownOf(event: CanonicalEvent, part: Part): CanonicalEvent | undefined {
    switch (event.type) {
      case 'text': {
        const text = part.seam.push(event.text);
        return text === '' ? undefined : { ...event, text };
      }
      case 'usage':
        if (event.isPartial) return undefined;
        this.answer.attempt.usage = event.usage;
        return { type: 'usage', usage: this.join(event.usage, part), source: 'estimated' };
      // It is thought anew, of what the reader has already.
      case 'reasoning':
      case 'start':
        return undefined;
      default:
        return event;
    }
  }

  private note(event: CanonicalEvent): void {
    this.soFar.observe(event);
    if (event.type === 'usage' && event.isPartial) this.begun = event.usage;
  }

  /** @returns what the reader is told, unless another route goes on */
  private noteBreak(failure: unknown): unknown {
    const { attempt } = this.answer;
    attempt.usage ??= this.usedByPart();
    return this.sources.fallback.noteBreak(this.answer, failure);
  }

  /** What the vendor has used that gave the latest part, by what is known of it. */
  private usedByPart(): Usage {
    const { part, soFar, begun = NO_USAGE } = this;
    const { estimate } = this.plan;
    if (!part) {
      const inputTokens = begun.inputTokens || estimate.inputTokens;
      return { ...begun, inputTokens, outputTokens: tokensIn(soFar.text) };
    }
    const fresh = soFar.text.slice(part.before.length);
    return {
      ...NO_USAGE,
      inputTokens: estimate.inputTokens + part.addedTokens,
      outputTokens: tokensIn(part.seam.said) + tokensIn(fresh),
    };
  }

  /**
   * The use of one answer: the prompt once, and all of the text, within what was set aside for the route
   * that it is charged by. The first route's vendor can't be asked any more, so its part is an estimate.
   */
  private join(last: Usage, { seam, before, addedTokens }: Part): Usage {
    const { ceiling } = this.charged;
    const outputTokens = tokensIn(before) + Math.max(0, last.outputTokens - tokensIn(seam.said));
    const read = { ...last, inputTokens: Math.max(1, last.inputTokens - addedTokens) };
    const begun = (this.charged === this.first && this.begun) || read;
    const inputTokens = Math.min(begun.inputTokens, ceiling.inputTokens);
    const cacheReadTokens = Math.min(begun.cacheReadTokens, inputTokens);
    const cacheWriteTokens = Math.min(begun.cacheWriteTokens, inputTokens - cacheReadTokens);
    const cappedOutput = Math.min(outputTokens, ceiling.outputTokens);
    return {
      ...NO_USAGE,
      inputTokens,
      cacheReadTokens,
      cacheWriteTokens,
      cacheWriteLongTokens: Math.min(begun.cacheWriteLongTokens, cacheWriteTokens),
      outputTokens: cappedOutput,
      reasoningTokens: Math.min(last.reasoningTokens, cappedOutput),
    };
  }
}

/** All events of a part, from the first. Its reader may see few of them, so others have their turns here. */
async function* eventsOf({
  held,
  rest,
}: FirstAnswer<CanonicalEvent>): AsyncGenerator<CanonicalEvent, undefined> {
  try {
    yield* held;
    for (let count = 1; ; count++) {
      if (count % EVENTS_PER_TURN === 0) await nextTurn();
      const result = await rest.next();
      if (result.done) return undefined;
      yield result.value;
    }
  } finally {
    await rest.return?.();
  }
}

function tokensIn(text: string): number {
  return estimateTokens(countCodePoints(text));
}
