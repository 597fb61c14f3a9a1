import { Injectable, Logger } from '@nestjs/common';
import type { VendorHandle } from '../../canonical/billable-request.js';
import { TOKENS_PER_SEARCH } from '../../canonical/canonical-request.js';
import { countCodePoints, estimateTokens } from '../../canonical/prompt-size.js';
import { msSince } from '../../platform/time/timestamp.js';
import { NO_USAGE, UNMEASURED_SPEED, type Usage } from '../../canonical/usage.js';
import { describeError } from './database-failure.js';
import type { Hold } from './hold.js';
import { LARGEST_VOCABULARY_FACTOR, TokenCounter } from './token-counter.js';
import type { UsageMeter } from './usage-meter.js';

/** For so long a vendor is listened to after its caller has left, since its end brings its usage. */
const GRACE_MS = 2_000;
/** More than so many at once are closed without a grace. */
const MAX_GRACES = 1_000;

/** An answer of this much tells its own pace; shorter ones tell of the network's pieces. */
const PACE_MS = 500;
const PACE_TOKENS = 16;

/** Whose answer it is, and to what. */
type Answered = Pick<Hold, 'caller' | 'request'>;

/**
 * What becomes of answers that nobody waits for any more, because the caller left or we ended them:
 * the vendor has a moment to come to its end, and what it does not count itself is estimated.
 */
@Injectable()
export class AbandonedAnswers {
  private readonly logger = new Logger(AbandonedAnswers.name);
  private readonly graces = new Set<() => void>();
  /** How long a vendor is listened to whose caller has left; less in suites that wait for it. */
  graceMs = GRACE_MS;

  constructor(private readonly tokens: TokenCounter) {}

  /**
   * Lets the vendor go on for the grace, and then closes it. No other call begins meanwhile.
   *
   * @returns to be called when the answer has ended by itself
   */
  beginGrace(vendor: VendorHandle): () => void {
    vendor.endVendorCalls();
    if (this.graces.size >= MAX_GRACES) {
      vendor.closeVendor();
      return () => undefined;
    }
    const forget = (): void => {
      clearTimeout(timer);
      this.graces.delete(end);
    };
    const end = (): void => {
      forget();
      vendor.closeVendor();
    };
    const timer = setTimeout(end, this.graceMs);
    this.graces.add(end);
    return forget;
  }

  /** Closes all vendors that are still listened to: the service stops. */
  endGraces(): void {
    for (const end of [...this.graces]) end();
  }

  /** The estimate, or what the meter has where that fails: the hold is to be settled in any case. */
  async read(hold: Answered, meter: UsageMeter): Promise<Usage> {
    try {
      return await this.estimate(hold, meter);
    } catch (error) {
      this.logger.error(`An answer could not be estimated: ${describeError(error)}`);
      return meter.read().usage;
    }
  }

  /**
   * What an answer that did not come to its end has used: the input as the vendor reported it, else
   * the prompt's bound; of the output the larger of the vendor's own count so far and a count of what
   * came with the route's speed for the time in which nothing came. Never more than the request could
   * have used at most, nor than the speed makes in all of the time, unless more came.
   */
  async estimate({ caller, request }: Answered, meter: UsageMeter): Promise<Usage> {
    const { ceiling } = meter.route;
    // Vectors, speech and transcripts have no output that goes on in secret.
    if (ceiling.outputTokens === 0) return meter.read().usage;
    const { vendorWork } = request;
    const nowMs = performance.now();
    const sentMs = vendorWork ? msSince(vendorWork.startedAt) : 0;
    const spokenMs = meter.firstContentMs === undefined ? 0 : nowMs - meter.firstContentMs;
    const workedMs = Math.max(sentMs, spokenMs);
    const visible = await this.countVisible(caller.tenantId, meter);
    const hasPace = spokenMs >= PACE_MS && visible >= PACE_TOKENS;
    // Several answers are written side by side.
    const { choices = 1 } = meter.route.output ?? {};
    const pace = hasPace ? (visible * 1000) / spokenMs : UNMEASURED_SPEED * choices;
    const measured = vendorWork?.tokensPerSecond;
    const speed = (measured === undefined ? pace : measured * choices) / 1000;
    // What came in plain view speaks for itself; only where nothing came does the clock.
    const { silentMs, steadyMs, characters } = meter.pace(nowMs - workedMs, nowMs);
    const late = (visible * characters) / Math.max(1, meter.outputCharacters);
    const steady = visible - late;
    const made =
      Math.max(late, speed * silentMs) +
      Math.max(steady, Math.min(steady * LARGEST_VOCABULARY_FACTOR, speed * steadyMs));
    const most = Math.max(visible, Math.min(made, speed * workedMs));
    const soFar = meter.soFar ?? NO_USAGE;
    return {
      ...soFar,
      inputTokens: inputOf(soFar, ceiling),
      outputTokens: Math.min(Math.max(Math.ceil(most), soFar.outputTokens), ceiling.outputTokens),
    };
  }

  /**
   * Tokens of all that came, at the rate of the sample: by its characters or by its pieces, of which
   * most vendors give equal ones whatever the language; the larger, as the sample is small.
   */
  private async countVisible(
    tenantId: string,
    { outputCharacters, sample }: UsageMeter,
  ): Promise<number> {
    const texts = sample.texts();
    const characters = texts.reduce((sum, text) => sum + countCodePoints(text), 0);
    if (characters === 0) return estimateTokens(outputCharacters);
    const tokens = (await this.tokens.count(tenantId, texts)) ?? tokensByScript(texts);
    return Math.ceil(Math.max((tokens * outputCharacters) / characters, tokens / sample.share));
  }
}

/**
 * The input as the vendor has reported it, else the prompt's bound. What is reported at an answer's beginning
 * lacks what searches find, and the readings of the prompt that follow them.
 */
function inputOf({ inputTokens, webSearches }: Usage, ceiling: Usage): number {
  if (inputTokens === 0) return ceiling.inputTokens;
  const most = inputTokens + webSearches * (inputTokens + TOKENS_PER_SEARCH);
  return Math.max(inputTokens, Math.min(most, ceiling.inputTokens));
}

/** Where nobody counts in time: no vocabulary is much worse than a token for each foreign character. */
function tokensByScript(texts: readonly string[]): number {
  return texts.reduce((sum, text) => {
    const foreign = [...text].filter((character) => character > '\x7f').length;
    return sum + foreign + estimateTokens(countCodePoints(text) - foreign);
  }, 0);
}
