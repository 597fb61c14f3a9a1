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

/** Time a vendor gets to finish after its caller disconnected; the end of the answer reports usage. */
const GRACE_MS = 2_000;
/** Beyond this many, vendors are closed without a grace period. */
const MAX_GRACES = 1_000;

/** Shortest answer whose pace is meaningful; shorter ones reflect network chunks. */
const PACE_MS = 500;
const PACE_TOKENS = 16;

type Answered = Pick<Hold, 'caller' | 'request'>;

/**
 * Handles answers whose caller disconnected, or that the gateway ended: gives the vendor a grace
 * period to finish, and estimates what it does not report.
 */
@Injectable()
export class AbandonedAnswers {
  private readonly logger = new Logger(AbandonedAnswers.name);
  private readonly graces = new Set<() => void>();
  /** Grace period; suites shorten it. */
  graceMs = GRACE_MS;

  constructor(private readonly tokens: TokenCounter) {}

  /**
   * Closes the vendor after the grace period, during which no other call starts.
   *
   * @returns a function to call when the answer has ended
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

  /** Closes all vendors in their grace period, at shutdown. */
  endGraces(): void {
    for (const end of [...this.graces]) end();
  }

  /**
   * Returns the estimate, or the meter's usage if that fails: the hold must be settled in any case.
   */
  async read(hold: Answered, meter: UsageMeter): Promise<Usage> {
    try {
      return await this.estimate(hold, meter);
    } catch (error) {
      this.logger.error(`usage estimate failed: ${describeError(error)}`);
      return meter.read().usage;
    }
  }

  /**
   * Estimates the usage of an incomplete answer: input as reported, or the prompt's upper bound;
   * output as the larger of the vendor's count so far, and a count of the received text plus the
   * route's speed for silent periods. Never exceeds the request's ceiling, nor the speed times the
   * whole duration unless more was received.
   */
  async estimate({ caller, request }: Answered, meter: UsageMeter): Promise<Usage> {
    const { ceiling } = meter.route;
    // Vectors, speech and transcripts have no hidden output.
    if (ceiling.outputTokens === 0) return meter.read().usage;
    const { vendorWork } = request;
    const nowMs = performance.now();
    const sentMs = vendorWork ? msSince(vendorWork.startedAt) : 0;
    const spokenMs = meter.firstContentMs === undefined ? 0 : nowMs - meter.firstContentMs;
    const workedMs = Math.max(sentMs, spokenMs);
    const visible = await this.countVisible(caller.tenantId, meter);
    const hasPace = spokenMs >= PACE_MS && visible >= PACE_TOKENS;
    // Several answers are generated in parallel.
    const { choices = 1 } = meter.route.output ?? {};
    const pace = hasPace ? (visible * 1000) / spokenMs : UNMEASURED_SPEED * choices;
    const measured = vendorWork?.tokensPerSecond;
    const speed = (measured === undefined ? pace : measured * choices) / 1000;
    // The clock counts only where nothing was received.
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
   * Counts the tokens of everything received at the sample's rate, by characters or by pieces,
   * which most vendors send at equal token counts in any language. Returns the larger, as the
   * sample is small.
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
 * Returns the reported input, or the prompt's upper bound. Usage reported at the start of an answer
 * lacks the search results and the repeated prompts that searches add.
 */
function inputOf({ inputTokens, webSearches }: Usage, ceiling: Usage): number {
  if (inputTokens === 0) return ceiling.inputTokens;
  const most = inputTokens + webSearches * (inputTokens + TOKENS_PER_SEARCH);
  return Math.max(inputTokens, Math.min(most, ceiling.inputTokens));
}

/**
 * Estimates tokens when counting is too slow. No vocabulary is much worse than one token per
 * non-Latin character.
 */
function tokensByScript(texts: readonly string[]): number {
  return texts.reduce((sum, text) => {
    const foreign = [...text].filter((character) => character > '\x7f').length;
    return sum + foreign + estimateTokens(countCodePoints(text) - foreign);
  }, 0);
}
