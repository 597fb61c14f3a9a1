import type { IncomingHttpHeaders } from 'node:http';
import { Canceller, type CancelSignal } from '../../../canonical/cancel-signal.js';
import {
  usageIn,
  type CanonicalEvent,
  type WorkEvent,
} from '../../../canonical/canonical-event.js';
import { NO_USAGE, UNMEASURED_SPEED, type Usage } from '../../../canonical/usage.js';
import type { RoutableRequest } from '../../../canonical/work-request.js';
import { Timestamp, type TimestampClock } from '../../../platform/time/timestamp.js';
import type { AttemptRecorder } from '../attempt-recorder.js';
import type { Plan, RouteAttempt } from '../plan.js';

interface LaneCall {
  readonly attempt: RouteAttempt;
  readonly tried: AttemptRecorder;
  /** What came of it so far. */
  readonly held: readonly (CanonicalEvent | WorkEvent<unknown>)[];
}

/**
 * One of two routes that are asked at once, and the signal by which its call alone is closed. What is to
 * be known of a call that is closed is written down at that moment, whenever its vendor lets go.
 */
export class HedgeLeg implements CancelSignal {
  isClosed = false;
  /** Its content came first. */
  hasWon = false;
  /** The lane of the other route, once it is asked. */
  other: HedgeLeg | undefined;
  private readonly canceller: Canceller;
  private call: LaneCall | undefined;

  /** @param isHedge whether it was begun because the other one is silent */
  constructor(
    private readonly plan: Plan<RoutableRequest>,
    private readonly clock: TimestampClock,
    private readonly isHedge = false,
  ) {
    const { vendorSignal } = plan;
    this.canceller = new Canceller(vendorSignal.aborted);
    vendorSignal.addEventListener('abort', () => this.canceller.abort());
  }

  get aborted(): boolean {
    return this.canceller.aborted;
  }

  get isEnding(): boolean {
    return this.plan.vendorSignal.isEnding === true;
  }

  noteSent(): void {
    if (this.call && !this.isClosed) this.call.attempt.sentAt ??= new Timestamp(this.clock);
  }

  noteHead(headers: IncomingHttpHeaders): void {
    this.call?.attempt.use?.heed(headers);
  }

  addEventListener(type: 'abort', listener: () => void): void {
    this.canceller.addEventListener(type, listener);
  }

  removeEventListener(type: 'abort', listener: () => void): void {
    this.canceller.removeEventListener(type, listener);
  }

  /** The route is called, maybe for the second time. */
  begin(attempt: RouteAttempt, tried: AttemptRecorder, held: LaneCall['held']): void {
    this.call = { attempt, tried, held };
    if (!this.isHedge) return;
    attempt.isHedge = true;
    attempt.isSpare = this.isSpare;
  }

  /** The first content has come. @returns false when the other route's was there before */
  claim(): boolean {
    if (this.isClosed) return false;
    this.hasWon = true;
    this.other?.close('outpaced');
    this.other = undefined;
    if (this.call) this.call.attempt.isSpare = false;
    return true;
  }

  /** The other route has failed: what this one does is done for the caller from here on. */
  goOnAlone(): void {
    this.other?.setAside();
    this.other = undefined;
    if (this.call && !this.isClosed) this.call.attempt.isSpare = false;
  }

  /** Closes the vendor's connection at once, unless its answer has begun. */
  close(outcome: 'outpaced' | 'aborted'): void {
    if (this.isClosed || this.hasWon) return;
    this.isClosed = true;
    this.setAside();
    if (this.call?.attempt.outcome === 'pending') {
      const { attempt, tried } = this.call;
      attempt.outcome = outcome;
      attempt.usage = usedInSilence(this.plan, this.call, new Timestamp(this.clock));
      attempt.use?.end(attempt.usage ?? NO_USAGE, false);
      attempt.durationMs =
        outcome === 'outpaced' ? tried.outpaced(this.plan.streamed) : tried.end(outcome);
    }
    this.canceller.abort();
  }

  /** The caller has left: what was done beside the route that it waits for ends at once. */
  leave(): void {
    if (this.isSpare) this.close('aborted');
  }

  /** What it did is not what the caller pays for. */
  private setAside(): void {
    if (this.call) this.call.attempt.isSpare = true;
  }

  private get isSpare(): boolean {
    return this.isHedge && this.other !== undefined;
  }
}

/**
 * What a vendor has used that was closed before its first content, as of any call that is closed: the input
 * as it was reported, else the prompt's bound; the output that it makes in such a time. Undefined where
 * nothing was sent.
 */
function usedInSilence(
  { estimate, speeds }: Plan<RoutableRequest>,
  { attempt: { route, sentAt }, held }: LaneCall,
  now: Timestamp,
): Usage | undefined {
  if (!sentAt) return undefined;
  const counted = usageIn(held);
  const { ceiling, output } = route;
  // Vectors, speech and transcripts have no output that goes on in secret.
  if (ceiling.outputTokens === 0) return counted ?? estimate;
  const seconds = now.msSince(sentAt) / 1_000;
  const speed = (speeds?.tokensPerSecond(route) ?? UNMEASURED_SPEED) * (output?.choices ?? 1);
  const made = Math.ceil(speed * seconds);
  return {
    ...(counted ?? estimate),
    inputTokens: counted?.inputTokens || ceiling.inputTokens,
    outputTokens: Math.min(Math.max(made, counted?.outputTokens ?? 0), ceiling.outputTokens),
  };
}
