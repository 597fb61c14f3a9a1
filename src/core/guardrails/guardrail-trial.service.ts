import { Injectable } from '@nestjs/common';
import type { Span } from './finder.js';
import { toGuardrail, type GuardrailDefinition } from './guardrail.js';
import type { GuardrailRule } from './guardrail-rule.js';
import { ScanQueueFullError, ScanUnfinishedError } from './pattern-scan.js';
import { tooManyScans } from './pattern-scan.pool.js';
import { TextScanner } from './text-scanner.service.js';

/** Text of this length is looked at without slicing it, so that places are those of the text. */
export const MAX_TRIAL_LENGTH = 20_000;
/** Of one rule; a page that marks more is of no more use. */
export const MAX_PLACES = 20;
/** All rules together. */
const LIMIT_MS = 5_000;

/** What one rule makes of a text. */
export interface RuleTrial {
  readonly ruleIndex: number;
  readonly type: GuardrailRule['type'];
  readonly isMatch: boolean;
  /** False: it took too long, so whether it matches is not known. */
  readonly isFinished: boolean;
  /** Where it matches, in UTF-16 units, in order; none of `max_length`, which is about the whole. */
  readonly places: readonly Span[];
}

/** Tells what guardrails would find in a text, by the engine that looks at requests. Notes nothing. */
@Injectable()
export class GuardrailTrial {
  constructor(private readonly scanner: TextScanner) {}

  /**
   * The rules that match, and those that could not be looked at in time.
   *
   * @throws RateLimitError when too many texts of the tenant wait to be looked at
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

/** For all rules of one trial. */
export function trialSignal(): AbortSignal {
  return AbortSignal.timeout(LIMIT_MS);
}
