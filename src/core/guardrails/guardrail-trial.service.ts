import { Injectable } from '@nestjs/common';
import type { Span } from './finder.js';
import { toGuardrail, type GuardrailDefinition } from './guardrail.js';
import type { GuardrailRule } from './guardrail-rule.js';
import { ScanQueueFullError, ScanUnfinishedError } from './pattern-scan.js';
import { tooManyScans } from './pattern-scan.pool.js';
import { TextScanner } from './text-scanner.service.js';

/** Texts up to this length are scanned in one piece, so positions are those of the text. */
export const MAX_TRIAL_LENGTH = 20_000;
/** Matches reported per rule. */
export const MAX_PLACES = 20;
/** Time limit of all rules together. */
const LIMIT_MS = 5_000;

/** The matches of one rule. */
export interface RuleTrial {
  readonly ruleIndex: number;
  readonly type: GuardrailRule['type'];
  readonly isMatch: boolean;
  /** False after a timeout, when it is unknown whether the rule matches. */
  readonly isFinished: boolean;
  /** Matches in UTF-16 units, in order; empty for `max_length`, which concerns the whole text. */
  readonly places: readonly Span[];
}

/**
 * Shows what guardrails would find in a text, with the same engine as for requests. Records
 * nothing.
 */
@Injectable()
export class GuardrailTrial {
  constructor(private readonly scanner: TextScanner) {}

  /**
   * Returns the rules that match or timed out.
   *
   * @throws RateLimitError when too many of the tenant's texts are queued
   */
  async run(
    definition: GuardrailDefinition,
    text: string,
    signal: AbortSignal,
  ): Promise<RuleTrial[]> {
    const trials: RuleTrial[] = [];
    const sizes = [...definition.patternSizes];
    for (const [ruleIndex, rule] of definition.rules.entries()) {
      const patternSizes = rule.type === 'regex' ? sizes.splice(0, 1) : [];
      const alone = toGuardrail({ ...definition, rules: [rule], patternSizes });
      const about = { ruleIndex, type: rule.type };
      try {
        const places = await this.scanner.places(alone, text, MAX_PLACES, signal);
        const isMatch = places.length > 0 || text.length > alone.maxLength;
        if (isMatch) trials.push({ ...about, isMatch, isFinished: true, places });
      } catch (error) {
        if (error instanceof ScanQueueFullError) throw tooManyScans();
        if (!(error instanceof ScanUnfinishedError)) throw error;
        trials.push({ ...about, isMatch: false, isFinished: false, places: [] });
      }
    }
    return trials;
  }
}

/** Returns the time limit for all rules of one trial. */
export function trialSignal(): AbortSignal {
  return AbortSignal.timeout(LIMIT_MS);
}
