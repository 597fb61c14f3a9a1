import type { BillableRequest } from '../../canonical/billable-request.js';
import { countCodePoints, estimateTokens } from '../../canonical/prompt-size.js';
import {
  isContent,
  type CanonicalEvent,
  type WorkEvent,
  type FinishReason,
} from '../../canonical/canonical-event.js';
import type { Usage, UsageSource } from '../../canonical/usage.js';
import { OutputSample } from './output-sample.js';
import { fillUsage } from './plausible-usage.js';
import type { BillableRoute } from '../../canonical/billable-route.js';

/** Longer pauses between pieces of output may mean hidden work. */
const LONGEST_STEP_MS = 200;

export interface Pace {
  readonly silentMs: number;
  readonly steadyMs: number;
  readonly characters: number;
}

/** Measures the usage of an answer from its events. */
export class UsageMeter {
  finishReason: FinishReason | undefined;
  /** On the clock of `performance.now()`. */
  firstContentMs: number | undefined;
  /** For counting tokens if the answer is incomplete. */
  readonly sample = new OutputSample();
  private answering: BillableRoute;
  private passedCharacters = 0;
  /** Times of the first and the latest piece of output, and of its end. */
  private firstPieceMs: number | undefined;
  private lastPieceMs: number | undefined;
  private finishedMs: number | undefined;
  /** Total of the pauses longer than a step, and the characters right after them. */
  private pausedMs = 0;
  private charactersAfterPauses = 0;
  /** The vendor's latest count: of a complete answer, or of one in progress. */
  private counts: { reported?: Usage; partial?: Usage } = {};
  private countedBy: BillableRoute | undefined;
  /** True when usage arrived with or after a finish reason. */
  private hasFinalUsage = false;
  private source: UsageSource = 'upstream';

  constructor(private readonly request: BillableRequest) {
    this.answering = request.routes[0];
  }

  /** The route whose prices apply: the answering one; until it is known, the first. */
  get route(): BillableRoute {
    return this.request.billingRoute ?? this.answering;
  }

  observe(event: CanonicalEvent | WorkEvent<unknown>): void {
    if (this.firstContentMs === undefined && isContent(event)) {
      this.firstContentMs = performance.now();
    }
    switch (event.type) {
      case 'route':
        this.answering = event.route;
        break;
      case 'text':
      case 'reasoning':
      case 'refusal':
      case 'tool_arguments':
        this.pass(countCodePoints(event.text));
        this.sample.add(event.text);
        break;
      case 'tool_call':
        this.pass(countCodePoints(event.name));
        break;
      case 'relay':
        if (event.outputCharacters > 0) {
          this.pass(event.outputCharacters);
          // A complete body reports its usage, or none of it was delivered.
          if (this.request.streamed) this.sample.add(event.bytes);
        }
        if (event.finishReason) this.finish(event.finishReason);
        if (event.usage) this.report(event.usage);
        break;
      case 'finish':
        this.finish(event.reason);
        break;
      case 'usage':
        if (event.isPartial) this.note({ partial: event.usage });
        else this.report(event.usage, event.source);
        break;
      case 'output':
        this.finishReason = 'stop';
        break;
      case 'start':
      case 'settled':
        break;
    }
  }

  /** Code points of output received from the vendor, delivered or not. */
  get outputCharacters(): number {
    return this.passedCharacters + (this.request.withheldCharacters ?? 0);
  }

  /**
   * Splits the vendor's time since `sinceMs`: `silentMs` without output (before the first piece, in long
   * pauses, and since the latest piece) and `steadyMs` with continuous output. Both end with its finish
   * reason.
   *
   * @param sinceMs on the clock of `performance.now()`, like `nowMs`
   * @returns also the characters that ended silences, which were generated during them
   */
  pace(sinceMs: number, nowMs: number): Pace {
    const endMs = this.route.output?.choices === 1 ? (this.finishedMs ?? nowMs) : nowMs;
    const workedMs = Math.max(0, endMs - sinceMs);
    const characters = this.charactersAfterPauses;
    if (this.firstPieceMs === undefined) return { silentMs: workedMs, steadyMs: 0, characters };
    const lastStepMs = endMs - this.lastPieceMs!;
    const silentMs =
      Math.max(0, this.firstPieceMs - sinceMs) +
      this.pausedMs +
      (lastStepMs > LONGEST_STEP_MS ? lastStepMs : 0);
    return { silentMs, steadyMs: Math.max(0, workedMs - silentMs), characters };
  }

  /** The vendor's count so far, of an answer that may continue. */
  get soFar(): Usage | undefined {
    return this.counted.reported ?? this.counted.partial;
  }

  /** The first vendor's count does not apply to the prices of a route that resumed its answer. */
  private get counted(): UsageMeter['counts'] {
    return this.countedBy === this.route ? this.counts : {};
  }

  /** True when the vendor's figures cover the whole answer, even if its end was not read. */
  get isCounted(): boolean {
    return this.hasFinalUsage && this.source === 'upstream';
  }

  /**
   * Returns the vendor's figures, else an estimate from the characters received. Figures that the vendor
   * left out are estimated too.
   */
  read(): { usage: Usage; source: UsageSource } {
    const { reported } = this.counted;
    if (reported) return fillUsage(reported, this.source, () => this.estimated());
    return { usage: this.estimated(), source: 'estimated' };
  }

  private pass(characters: number): void {
    this.passedCharacters += characters;
    const nowMs = performance.now();
    const stepMs = this.lastPieceMs === undefined ? Infinity : nowMs - this.lastPieceMs;
    this.firstPieceMs ??= nowMs;
    this.lastPieceMs = nowMs;
    if (stepMs <= LONGEST_STEP_MS) return;
    this.charactersAfterPauses += characters;
    if (stepMs !== Infinity) this.pausedMs += stepMs;
  }

  private finish(reason: FinishReason): void {
    this.finishReason ??= reason;
    this.finishedMs ??= performance.now();
  }

  private estimated(): Usage {
    const { estimate } = this.request;
    const outputTokens = estimate.outputTokens + estimateTokens(this.outputCharacters);
    const { webSearches = 0, servedTier, servedRegion } = this.counted.partial ?? {};
    const estimated: Usage = { ...estimate, outputTokens, webSearches };
    if (servedTier !== undefined) estimated.servedTier = servedTier;
    if (servedRegion !== undefined) estimated.servedRegion = servedRegion;
    return estimated;
  }

  private note(counts: UsageMeter['counts']): void {
    this.counts = { ...this.counted, ...counts };
    this.countedBy = this.route;
  }

  private report(usage: Usage, source: UsageSource = 'upstream'): void {
    this.note({ reported: usage });
    this.source = source;
    this.hasFinalUsage = this.finishReason !== undefined;
  }
}
