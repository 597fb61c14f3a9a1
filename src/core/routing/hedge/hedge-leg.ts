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

interface LegCall {
  readonly attempt: RouteAttempt;
  readonly tried: AttemptRecorder;
  /** Events received so far. */
  readonly held: readonly (CanonicalEvent | WorkEvent<unknown>)[];
}

/**
 * One of two concurrent calls, with a signal that closes only its own. Usage of a closed call is
 * recorded at once, whenever the vendor lets go of the connection.
 */
export class HedgeLeg implements CancelSignal {
  isClosed = false;
  /** True once its content came first. */
  hasWon = false;
  /** The other call, once it started. */
  other: HedgeLeg | undefined;
  private readonly canceller: Canceller;
  private call: LegCall | undefined;

  /**
   * @param isHedge true for the call that started because the first one was silent
   */
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

  /** Starts a call to the route; a retry calls this again. */
  begin(attempt: RouteAttempt, tried: AttemptRecorder, held: LegCall['held']): void {
    this.call = { attempt, tried, held };
    if (!this.isHedge) return;
    attempt.isHedge = true;
    attempt.isUnbilled = this.isUnbilled;
  }

  /**
   * Claims the race with the first content.
   *
   * @returns false when the other call was first
   */
  claim(): boolean {
    if (this.isClosed) return false;
    this.hasWon = true;
    this.other?.close('outpaced');
    this.other = undefined;
    if (this.call) this.call.attempt.isUnbilled = false;
    return true;
  }

  /** Makes this call the one that the caller pays for, because the other one failed. */
  goOnAlone(): void {
    this.other?.setAside();
    this.other = undefined;
    if (this.call && !this.isClosed) this.call.attempt.isUnbilled = false;
  }

  /** Closes the connection to the vendor at once, unless the answer has begun. */
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

  /** Closes the hedge at once when the caller disconnects. */
  closeHedge(): void {
    if (this.isUnbilled) this.close('aborted');
  }

  /** Excludes the call from what the caller pays for. */
  private setAside(): void {
    if (this.call) this.call.attempt.isUnbilled = true;
  }

  private get isUnbilled(): boolean {
    return this.isHedge && this.other !== undefined;
  }
}

/**
 * Estimates the usage of a call closed before its first content, as for any closed call: input as
 * reported, or the prompt's upper bound; output as generated in the elapsed time. Undefined when
 * nothing was sent.
 */
function usedInSilence(
  { estimate, speeds }: Plan<RoutableRequest>,
  { attempt: { route, sentAt }, held }: LegCall,
  now: Timestamp,
): Usage | undefined {
  if (!sentAt) return undefined;
  const counted = usageIn(held);
  const { ceiling, output } = route;
  // Vectors, speech and transcripts have no hidden output.
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
