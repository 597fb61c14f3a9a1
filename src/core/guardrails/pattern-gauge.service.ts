import { Injectable } from '@nestjs/common';
import type { GuardrailRule } from './guardrail-rule.js';
import { ScanQueueFullError, ScanUnfinishedError } from './pattern-scan.js';
import { PatternScanPool, tooManyScans } from './pattern-scan.pool.js';
/** Most instructions of a compiled pattern; a search takes at most this times the text length. */
const MAX_PATTERN_SIZE = 2_000;
const MAX_COMPILE_MS = 300;
/** Instructions per ms of compilation: 5 ms count as 300. */
const SIZE_PER_COMPILE_MS = 60;

const TOO_LARGE =
  'is too large when its repetitions and classes are expanded. Use smaller counts or fewer classes.';
const INVALID = 'is not a valid RE2 pattern. RE2 does not support look-around or back-references.';

/** Measured sizes, or the first invalid pattern. */
export type GaugedPatterns = { sizes: number[] } | { fault: string; ruleIndex: number };

/** Measures tenants' patterns in a thread, where they can do no harm, before they are used. */
@Injectable()
export class PatternGauge {
  constructor(private readonly pool: PatternScanPool) {}

  /** Returns the sizes of the `regex` rules in order, or an error message for the author of one. */
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
