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

/** From one piece of output to the next: in a longer pause a vendor may work on what nobody sees. */
const LONGEST_STEP_MS = 200;

export interface Pace {
  readonly silentMs: number;
  readonly steadyMs: number;
  readonly characters: number;
}

/** Reads, in passing, what an answer uses. */
export class UsageMeter {
  finishReason: FinishReason | undefined;
  /** On the clock of `performance.now()`. */
  firstContentMs: number | undefined;
  /** For a count of tokens, should the answer not come to its end. */
  readonly sample = new OutputSample();
  private answering: BillableRoute;
  private passedCharacters = 0;
  /** Of the first and of the latest piece of output, and of the end of all of it. */
  private firstPieceMs: number | undefined;
  private lastPieceMs: number | undefined;
  private finishedMs: number | undefined;
  /** The pauses between two pieces that were longer than a step, and what came right after them. */
  private pausedMs = 0;
  private charactersAfterPauses = 0;
  /** What was counted last: of a whole answer, or of one that may go on. */
  private counts: { reported?: Usage; partial?: Usage } = {};
  private countedBy: BillableRoute | undefined;
  /** Whether usage came with, or after, a reason to finish. */
  private hasFinalUsage = false;
  private source: UsageSource = 'upstream';

  constructor(private readonly request: BillableRequest) {
    this.answering = request.routes[0];
  }

  /** What the answer is charged by: the route that gives it; until it is known, the one that would have been first. */
  get route(): BillableRoute {
    return this.request.dearerPart ?? this.answering;
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
          // A whole body brings its usage, or nothing of it has been delivered.
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

  /** Code points of output that came from the vendor, whoever has seen them. */
  get outputCharacters(): number {
    return this.passedCharacters + (this.request.withheldCharacters ?? 0);
  }

  /**
   * How the vendor, at work since then, has spent its time: `silentMs` without showing anything, before
   * its first piece of output, in long pauses, and since the latest piece; and `steadyMs` with output
   * that came piece after piece. Both end with its reason to finish.
   *
   * @param sinceMs on the clock of `performance.now()`, like `nowMs`
   * @returns with the characters that came at the ends of silences, which were made in them
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

  /** What the vendor has counted by now, of an answer that may go on. */
  get soFar(): Usage | undefined {
    return this.counted.reported ?? this.counted.partial;
  }

  /** What the first vendor has counted says nothing of the price of another that has gone on with its answer. */
  private get counted(): UsageMeter['counts'] {
    return this.countedBy === this.route ? this.counts : {};
  }

  /** Whether the vendor's figures are those of the whole answer, though its end was not waited for. */
  get isCounted(): boolean {
    return this.hasFinalUsage && this.source === 'upstream';
  }

  /**
   * The vendor's own figures where it gave any, else an estimate from the characters that passed;
   * what is missing in the vendor's figures is estimated too.
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
