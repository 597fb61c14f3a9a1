import { Injectable } from '@nestjs/common';
import type { GuardrailRule } from './guardrail-rule.js';
import { ScanQueueFullError, ScanUnfinishedError } from './pattern-scan.js';
import { PatternScanPool, tooManyScans } from './pattern-scan.pool.js';
/** Instructions of a pattern's program; a search takes at most this times the length of the text. */
const MAX_PATTERN_SIZE = 2_000;
const MAX_COMPILE_MS = 300;
/** A pattern that takes long to compile counts as a large one: 5 ms are 300 instructions. */
const SIZE_PER_COMPILE_MS = 60;

const TOO_LARGE =
  'is too large once its repetitions and classes are written out; use smaller counts or fewer classes.';
const INVALID =
  'is no valid RE2 pattern. That syntax has no look-around and no back-references, since they cannot be searched for in linear time.';

/** What was measured, or the first pattern at fault. */
export type GaugedPatterns = { sizes: number[] } | { fault: string; ruleIndex: number };

/** Tries tenants' patterns before they are used, where they can do no harm. */
@Injectable()
export class PatternGauge {
  constructor(private readonly pool: PatternScanPool) {}

  /** The sizes of the `regex` rules in their order, or what is wrong with one, for its author. */
  async gauge(tenantId: string, rules: readonly GuardrailRule[]): Promise<GaugedPatterns> {
    const sizes: number[] = [];
    for (const [ruleIndex, rule] of rules.entries()) {
      if (rule.type !== 'regex') continue;
      const size = await this.sizeOf(tenantId, rule.pattern, rule.flags ?? '');
      if (typeof size === 'string') return { fault: size, ruleIndex };
      sizes.push(size);
    }
    return { sizes };
  }

  private async sizeOf(tenantId: string, pattern: string, flags: string): Promise<number | string> {
    try {
      const [measured] = await this.pool.measure(tenantId, [{ pattern, flags }]);
      if (!measured) return INVALID;
      const { size, compileMs } = measured;
      if (size > MAX_PATTERN_SIZE || compileMs > MAX_COMPILE_MS) return TOO_LARGE;
      return Math.max(size, Math.ceil(compileMs * SIZE_PER_COMPILE_MS));
    } catch (error) {
      if (error instanceof ScanQueueFullError) throw tooManyScans();
      if (error instanceof ScanUnfinishedError) return TOO_LARGE;
      throw error;
    }
  }
}
