import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CanonicalEvent, RouteEvent } from '../../../canonical/canonical-event.js';
import { countCodePoints, estimateTokens } from '../../../canonical/prompt-size.js';
import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import type { GatewayMetrics } from '../../../platform/metrics/gateway-metrics.js';
import { UpstreamError, type UpstreamFailure } from '../../../vendors/upstream-error.js';
import type { Upstream } from '../../../vendors/upstream.js';
import { EVENTS_PER_TURN, type StartedAnswer } from '../opened-answer.js';
import { isCostlier } from '../order-routes.js';
import type { Plan, PlannedRoute } from '../plan.js';
import type { FirstAnswer, RouteFallback } from '../route-fallback.js';
import { AnswerSoFar } from './answer-so-far.js';
import { continuedRequest } from './continued-request.js';
import { cutTail } from './cut-tail.js';
import { Continuation } from './continuation.js';

/** Most recovery attempts per answer. */
const MAX_TRIES = 4;

/** Failures after which the same route may continue, if there is no other. */
const TRANSIENT: ReadonlySet<UpstreamFailure> = new Set(['reset', 'cut', 'server', 'timeout']);
/** Failures that are not the vendor's fault; no recovery follows. */
const NOT_VENDORS: ReadonlySet<UpstreamFailure> = new Set(['slow_reader', 'caller']);

/** Events that may precede the text of a part. */
const MAY_PRECEDE_TEXT: ReadonlySet<CanonicalEvent['type']> = new Set([
  'start',
  'text',
  'reasoning',
  'usage',
]);

const OVER: IteratorResult<never, undefined> = { done: true, value: undefined };

/** Dependencies of a recovery besides its plan. */
export interface RecoverySources {
  readonly fallback: RouteFallback<CanonicalEvent>;
  readonly metrics: Pick<GatewayMetrics, 'observeRecovery'>;
  upstreamOf(route: PlannedRoute): Pick<Upstream, 'signsReasoning' | 'continuesPrefill'>;
}

/** The continuation by one route. */
interface ContinuedPart {
  readonly continuation: Continuation;
  /** The answer's text before it. */
  readonly before: string;
  /** Prompt tokens that the recovery added to the caller's own. */
  readonly addedTokens: number;
}

/**
 * Recovers an answer that is interrupted after its first content by continuing it over another
 * route. Its reader sees one text, one end and one usage: of the continuing routes only new text
 * and what follows it is shown.
 */
export class RecoveringAnswer implements StartedAnswer<CanonicalEvent | RouteEvent> {
  held: readonly (CanonicalEvent | RouteEvent)[];
  readonly rest: AsyncIterator<CanonicalEvent>;
  private readonly first: PlannedRoute;
  private readonly soFar = new AnswerSoFar();
  private source: AsyncIterator<CanonicalEvent>;
  /** Usage that the first route reported at the start. */
  private initialUsage: Usage | undefined;
  /** The latest continuation; undefined before the first interruption. */
  private part: ContinuedPart | undefined;
  /** Its events to be read next. */
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

  /** Errors thrown by `rest` are final already. */
  toError(failure: unknown): unknown {
    return failure;
  }

  private get charged(): PlannedRoute {
    return this.plan.billingRoute ?? this.first;
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
        const told = this.recordInterruption(failure);
        // The answer is complete except for its usage.
        if (this.soFar.isFinished && failure instanceof UpstreamError) return OVER;
        if (!(await this.tryContinue(failure))) throw told;
      }
    }
  }

  private async end(): Promise<IteratorResult<CanonicalEvent>> {
    await this.source.return?.();
    return OVER;
  }

  /**
   * Finds a route that continues the answer.
   *
   * @throws CallerGoneError when the caller disconnected
   */
  private async tryContinue(failure: unknown): Promise<boolean> {
    const { plan, sources, soFar } = this;
    const { route } = this.answer.attempt;
    if (!(failure instanceof UpstreamError) || NOT_VENDORS.has(failure.failure)) return false;
    if (failure.isRequestOver || failure.isBeyondLimit || plan.callerGone.aborted) return false;
    const canContinue = soFar.canContinue(sources.upstreamOf(route).signsReasoning === true);
    const isContinued =
      canContinue && (await this.continueOverAny(this.nextRoutes(route, failure)));
    sources.metrics.observeRecovery(isContinued ? 'continued' : canContinue ? 'failed' : 'refused');
    return isContinued;
  }

  private async continueOverAny(routes: readonly PlannedRoute[]): Promise<boolean> {
    for (const next of routes) {
      if (this.tries++ >= MAX_TRIES) return false;
      if (await this.continueOver(next)) return true;
    }
    return false;
  }

  /**
   * Returns the routes after the interrupted one; without any, the same route again if the failure
   * is transient.
   */
  private nextRoutes(route: PlannedRoute, { failure }: UpstreamError): readonly PlannedRoute[] {
    const { routes, recovery } = this.plan;
    const behind = routes
      .slice(routes.indexOf(route) + 1)
      .filter(({ model }) => recovery === 'any' || model === this.first.model);
    return behind.length === 0 && TRANSIENT.has(failure) ? [route] : behind;
  }

  /** Calls a route to continue, and reads until it is clear whether it does. */
  private async continueOver(route: PlannedRoute): Promise<boolean> {
    const { request } = this.plan;
    const before = this.soFar.text;
    const cut = cutTail(before);
    const upstream = this.sources.upstreamOf(route);
    const isPrefilled = upstream.continuesPrefill?.(request, route.upstreamModel) === true;
    const ask = async (prefills: boolean) => {
      continued = continuedRequest(request, cut, prefills, tokensIn(cut.said));
      return this.sources.fallback.continueAnswer(route, continued);
    };
    let continued = request;
    let answer = await ask(isPrefilled);
    // Some models reject prefilled turns; those get an instruction instead.
    const isRefused = isPrefilled && this.plan.attempts.at(-1)?.outcome === 'caller';
    if (!answer && isRefused) answer = await ask(false);
    if (!answer) return false;
    const { attempt } = answer;
    attempt.continuesAt = countCodePoints(before);
    this.answer = answer;
    this.source = eventsOf(answer);
    this.part = {
      continuation: new Continuation(before, cut.tail),
      before,
      addedTokens: continued.promptSize.tokens - request.promptSize.tokens,
    };
    try {
      if (await this.isJoined(this.part.continuation)) {
        if (isCostlier(route, this.charged)) this.plan.billingRoute = route;
        return true;
      }
    } catch (failure) {
      const told = this.recordInterruption(failure);
      if (failure instanceof UpstreamError) return false;
      throw told;
    }
    attempt.outcome = 'unjoined';
    attempt.usage ??= this.usedByPart();
    await this.source.return?.();
    return false;
  }

  /** Reads until the route has repeated the tail, or said something else. */
  private async isJoined(continuation: Continuation): Promise<boolean> {
    while (!continuation.isJoined && !continuation.isUnjoined) {
      const result = await this.source.next();
      if (result.done || !MAY_PRECEDE_TEXT.has(result.value.type)) break;
      this.take(result.value);
    }
    return continuation.isJoined;
  }

  /** Queues what the reader may see of an event. */
  private take(event: CanonicalEvent): void {
    const shown = this.part ? this.shownOf(event, this.part) : event;
    if (!shown) return;
    this.note(shown);
    this.ready.push(shown);
  }

  private shownOf(event: CanonicalEvent, part: ContinuedPart): CanonicalEvent | undefined {
    switch (event.type) {
      case 'text': {
        const text = part.continuation.push(event.text);
        return text === '' ? undefined : { ...event, text };
      }
      case 'usage':
        if (event.isPartial) return undefined;
        this.answer.attempt.usage = event.usage;
        return { type: 'usage', usage: this.join(event.usage, part), source: 'estimated' };
      // The new reasoning covers text that the reader already has.
      case 'reasoning':
      case 'start':
        return undefined;
      default:
        return event;
    }
  }

  private note(event: CanonicalEvent): void {
    this.soFar.observe(event);
    if (event.type === 'usage' && event.isPartial) this.initialUsage = event.usage;
  }

  /**
   * @returns the error for the reader, should no other route continue
   */
  private recordInterruption(failure: unknown): unknown {
    const { attempt } = this.answer;
    attempt.usage ??= this.usedByPart();
    return this.sources.fallback.recordInterruption(this.answer, failure);
  }

  /** Returns the usage of the latest part as far as known. */
  private usedByPart(): Usage {
    const { part, soFar, initialUsage = NO_USAGE } = this;
    const { estimate } = this.plan;
    if (!part) {
      const inputTokens = initialUsage.inputTokens || estimate.inputTokens;
      return { ...initialUsage, inputTokens, outputTokens: tokensIn(soFar.text) };
    }
    const fresh = soFar.text.slice(part.before.length);
    return {
      ...NO_USAGE,
      inputTokens: estimate.inputTokens + part.addedTokens,
      outputTokens: tokensIn(part.continuation.said) + tokensIn(fresh),
    };
  }

  /**
   * Combines the usage: the prompt once, plus all text, within the credits reserved for the charged
   * route. The first vendor's part is an estimate, as it cannot be asked anymore.
   */
  private join(last: Usage, { continuation, before, addedTokens }: ContinuedPart): Usage {
    const { ceiling } = this.charged;
    const outputTokens =
      tokensIn(before) + Math.max(0, last.outputTokens - tokensIn(continuation.said));
    const read = { ...last, inputTokens: Math.max(1, last.inputTokens - addedTokens) };
    const initialUsage = (this.charged === this.first && this.initialUsage) || read;
    const inputTokens = Math.min(initialUsage.inputTokens, ceiling.inputTokens);
    const cacheReadTokens = Math.min(initialUsage.cacheReadTokens, inputTokens);
    const cacheWriteTokens = Math.min(initialUsage.cacheWriteTokens, inputTokens - cacheReadTokens);
    const cappedOutput = Math.min(outputTokens, ceiling.outputTokens);
    return {
      ...NO_USAGE,
      inputTokens,
      cacheReadTokens,
      cacheWriteTokens,
      cacheWriteLongTokens: Math.min(initialUsage.cacheWriteLongTokens, cacheWriteTokens),
      outputTokens: cappedOutput,
      reasoningTokens: Math.min(last.reasoningTokens, cappedOutput),
    };
  }
}

/** Yields all events of a part. Few may reach the reader, so it yields to the event loop itself. */
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
