import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { RE2JS } from 're2js';
import type { CancelSignal } from '../../canonical/cancel-signal.js';
import type { Finder, Span } from './finder.js';
import type { Guardrail } from './guardrail.js';
import { GuardrailGoneError, ScanQueueFullError, ScanUnfinishedError } from './pattern-scan.js';
import { PatternScanPool } from './pattern-scan.pool.js';
import { compileTenantPattern, type TenantPattern } from './guardrail-rule.js';
import { ScanScheduler } from './scan-scheduler.js';

/** Texts to scan, as part of a whole. */
export interface Scan {
  texts: readonly string[];
  /** Characters of the whole, for `max_length`. */
  characters: number;
  /** Earliest start of a match; earlier text is context. */
  from?: number;
  /** The text continues, so a match at its end may vanish or grow. */
  isPartial?: boolean;
  /** Aborted when the outcome is not needed anymore. */
  signal?: CancelSignal;
}

export interface ScanOutcome {
  matched: Guardrail[];
  /** Guardrails that timed out, for which a match is unknown. */
  unfinished: Guardrail[];
  /**
   * True when a guardrail was not even started, because too many of the tenant's texts are queued.
   */
  isTooBusy: boolean;
  /** Start of the first match that more text must decide; `Infinity` without one. */
  undecidedFrom: number;
}

/** Longer texts are scanned in slices, or by threads. */
const MAX_TEXT_AT_ONCE = 32 * 1024;
/** Instructions times characters: 10 ms for the worst pattern, at 40 ns each. */
const MAX_COST_AT_ONCE = 250_000;
/** Equivalent instructions of a finder, as for words that nearly match. */
const FINDER_SIZE = 4;
/** Longest guaranteed match; a longer undecided one counts as a match. */
export const MAX_MATCH_LENGTH = 1_000;

/** Compiling a larger pattern would block the event loop for too long. */
const MAX_PATTERN_SIZE_AT_ONCE = 300;

const SLICE_LENGTH = 8 * 1024;
const MAX_COMPILED = 500;

/** Scans texts for what guardrails forbid, without blocking the event loop. */
@Injectable()
export class TextScanner {
  private readonly logger = new Logger(TextScanner.name);
  private readonly compiled = new LRUCache<string, RE2JS>({ max: MAX_COMPILED });
  private readonly turns = new ScanScheduler();

  constructor(private readonly pool: PatternScanPool) {}

  /** Returns the outcome, without a promise for quick scans. */
  scan(guardrails: readonly Guardrail[], scan: Scan): ScanOutcome | Promise<ScanOutcome> {
    const length = scan.texts.reduce((sum, text) => sum + text.length, 0);
    const finders = new Set(guardrails.flatMap((guardrail) => guardrail.finders));
    let size = finders.size * FINDER_SIZE;
    let largest = 0;
    for (const { patterns } of guardrails) {
      for (const pattern of patterns) {
        size += pattern.size;
        largest = Math.max(largest, pattern.size);
      }
    }
    const isQuick =
      length <= MAX_TEXT_AT_ONCE &&
      length * size <= MAX_COST_AT_ONCE &&
      largest <= MAX_PATTERN_SIZE_AT_ONCE;
    return isQuick ? this.scanAtOnce(guardrails, scan) : this.scanInTurns(guardrails, scan);
  }

  private scanAtOnce(guardrails: readonly Guardrail[], scan: Scan): ScanOutcome {
    const outcome = noMatch();
    const judge = new Judge(scan, outcome);
    const found = new Map<Finder, boolean>();
    const finds = (finder: Finder): boolean => {
      const known = found.get(finder);
      if (known !== undefined) return known;
      const isFound = judge.any((text, from) => finder.find(text, from));
      found.set(finder, isFound);
      return isFound;
    };
    for (const guardrail of guardrails) {
      if (
        scan.characters > guardrail.maxLength ||
        guardrail.finders.some(finds) ||
        guardrail.patterns.some((pattern) =>
          judge.any((text, from) => this.find(pattern, text, from)),
        )
      ) {
        outcome.matched.push(guardrail);
      }
    }
    return outcome;
  }

  private async scanInTurns(guardrails: readonly Guardrail[], scan: Scan): Promise<ScanOutcome> {
    const outcome = noMatch();
    await this.scanFinders(guardrails, scan, outcome);
    const rest = guardrails.filter(
      (guardrail) =>
        guardrail.patterns.length > 0 &&
        !outcome.matched.includes(guardrail) &&
        !outcome.unfinished.includes(guardrail),
    );
    for (const guardrail of rest) await this.scanPatterns(guardrail, scan, outcome);
    return outcome;
  }

  private async scanFinders(
    guardrails: readonly Guardrail[],
    scan: Scan,
    outcome: ScanOutcome,
  ): Promise<void> {
    let hasTurn = false;
    // Guardrails share finders; each runs once.
    const found = new Map<Finder, boolean>();
    for (const guardrail of guardrails) {
      if (scan.characters > guardrail.maxLength) {
        outcome.matched.push(guardrail);
        continue;
      }
      const nextTurn = async (): Promise<void> => {
        if (hasTurn && !this.turns.isOver) return;
        await this.turns.wait(guardrail.tenantId);
        hasTurn = true;
      };
      for (const finder of guardrail.finders) {
        const isFound = found.get(finder) ?? (await isInSlices(finder, scan, outcome, nextTurn));
        if (scan.signal?.aborted) break;
        found.set(finder, isFound);
        if (!isFound) continue;
        outcome.matched.push(guardrail);
        break;
      }
      if (scan.signal?.aborted && guardrail.finders.length > 0) outcome.unfinished.push(guardrail);
    }
    if (hasTurn) this.turns.passOn();
  }

  private async scanPatterns(
    guardrail: Guardrail,
    scan: Scan,
    outcome: ScanOutcome,
  ): Promise<void> {
    const { texts, from = 0, isPartial = false, signal } = scan;
    try {
      const job = {
        patterns: guardrail.patterns.map(({ pattern, flags }) => ({ pattern, flags })),
        texts,
        from,
        wantsPlace: isPartial || from > 0,
      };
      const purpose = { guardrailId: guardrail.id, signal };
      const spans = await this.pool.search(guardrail.tenantId, job, purpose);
      const judge = new Judge(scan, outcome);
      const [text = ''] = texts;
      if (spans.some((span) => span && judge.isDecided(span, text))) {
        outcome.matched.push(guardrail);
      }
    } catch (error) {
      // A removed guardrail forbids nothing.
      if (error instanceof GuardrailGoneError) return;
      if (!(error instanceof ScanUnfinishedError)) throw error;
      outcome.unfinished.push(guardrail);
      outcome.isTooBusy ||= error instanceof ScanQueueFullError;
      if (signal?.aborted) return;
      this.logger.warn(`guardrail ${guardrail.id} not checked:  ${error.message}`);
    }
  }

  /**
   * Returns a guardrail's matches in one text, in order. Threads search for its patterns.
   *
   * @throws ScanUnfinishedError on a timeout
   */
  async places(
    { tenantId, finders, patterns }: Guardrail,
    text: string,
    limit: number,
    signal: CancelSignal,
  ): Promise<Span[]> {
    const searches = [
      ...finders.map((finder) => async (from: number) => {
        await this.turns.wait(tenantId);
        return finder.find(text, from);
      }),
      ...patterns.map(({ pattern, flags }) => async (from: number) => {
        const job = { patterns: [{ pattern, flags }], texts: [text], from, wantsPlace: true };
        return (await this.pool.search(tenantId, job, { signal }))[0];
      }),
    ];
    const found: Span[] = [];
    for (const search of searches) {
      let from = 0;
      for (let count = 0; count < limit && from <= text.length; count++) {
        const span = await search(from);
        if (!span) break;
        found.push(span);
        from = Math.max(span.end, span.start + 1);
      }
    }
    return found.sort((one, other) => one.start - other.start).slice(0, limit);
  }

  private find(pattern: TenantPattern, text: string, from: number): Span | undefined {
    const expression = this.compile(pattern);
    // Testing for a match is several times faster than locating it.
    if (!expression.test(text)) return undefined;
    const matcher = expression.matcher(text);
    return matcher.find(from) ? { start: matcher.start(), end: matcher.end() } : undefined;
  }

  /** Compiles patterns on first use and evicts the least recently used. */
  private compile(pattern: TenantPattern): RE2JS {
    const key = `${pattern.flags}/${pattern.pattern}`;
    const known = this.compiled.get(key);
    if (known) return known;
    const expression = compileTenantPattern(pattern);
    this.compiled.set(key, expression);
    return expression;
  }
}

/** Separates matches from those that more text must decide. */
class Judge {
  constructor(
    private readonly scan: Scan,
    private readonly outcome: ScanOutcome,
  ) {}

  any(find: (text: string, from: number) => Span | undefined): boolean {
    return this.scan.texts.some((text) => {
      const span = find(text, this.scan.from ?? 0);
      return span !== undefined && this.isDecided(span, text);
    });
  }

  isDecided({ start, end }: Span, text: string): boolean {
    if (!this.scan.isPartial || end < text.length || end - start >= MAX_MATCH_LENGTH) return true;
    this.outcome.undecidedFrom = Math.min(this.outcome.undecidedFrom, start);
    return false;
  }
}

/**
 * Scans long texts in slices, which overlap by the longest match so that none is torn. Stops when
 * cancelled.
 */
async function isInSlices(
  finder: Finder,
  scan: Scan,
  outcome: ScanOutcome,
  nextTurn: () => Promise<void>,
): Promise<boolean> {
  const judge = new Judge(scan, outcome);
  for (const text of scan.texts) {
    for (let start = scan.from ?? 0; start < text.length; start += SLICE_LENGTH) {
      await nextTurn();
      if (scan.signal?.aborted) return false;
      const contextStart = Math.max(0, start - MAX_MATCH_LENGTH);
      const slice = text.slice(contextStart, start + SLICE_LENGTH + MAX_MATCH_LENGTH);
      const span = finder.find(slice, start - contextStart);
      if (!span) continue;
      const isInNext = contextStart + span.start >= start + SLICE_LENGTH;
      if (isInNext && start + SLICE_LENGTH < text.length) continue;
      const place = { start: contextStart + span.start, end: contextStart + span.end };
      if (judge.isDecided(place, text)) return true;
    }
  }
  return false;
}

function noMatch(): ScanOutcome {
  return { matched: [], unfinished: [], isTooBusy: false, undecidedFrom: Infinity };
}
