import { afterAll, describe, expect, it } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { processorMsOf } from '../../../test/support/processor-ms.js';
import { toGuardrail, type Guardrail, type GuardrailDefinition } from './guardrail.js';
import { PatternScanPool } from './pattern-scan.pool.js';
import { TextScanner } from './text-scanner.service.js';

const pool = new PatternScanPool();
const scanner = new TextScanner(pool);
afterAll(() => pool.onApplicationShutdown());

/** Guardrails without patterns, which are scanned in the process itself. */
function guardrailsOf(tenantId: string, count: number): Guardrail[] {
  return Array.from({ length: count }, (_, index) =>
    toGuardrail({
      id: `${tenantId}-${index}`,
      tenantId,
      rules: [{ type: 'secret' }, { type: 'keyword', words: ['falcon'] }],
      patternSizes: [],
    } as unknown as GuardrailDefinition),
  );
}

const PROSE = 'The committee met in the old library. ';
const scanOf = (length: number, signal?: AbortSignal) => ({
  texts: [PROSE.repeat(length / PROSE.length)],
  characters: length,
  signal,
});

describe(TextScanner.name, () => {
  it.each([
    ['a short text with a few guardrails', 2, 1_000, true],
    ['a short text with many', 40, 4_000, false],
    ['a long text with one', 1, 40_000, false],
  ])('scans %s synchronously: %j guardrails, %j characters, %j', (_, count, length, isAtOnce) => {
    const outcome = scanner.scan(guardrailsOf('tenant', count), scanOf(length));
    expect(outcome instanceof Promise).toBe(!isAtOnce);
  });

  it('leaves most of each turn to the event loop, however many texts there are', async () => {
    const guardrails = guardrailsOf('busy', 10);
    let isDone = false;
    const scans = Promise.all(
      Array.from({ length: 20 }, () => scanner.scan(guardrails, scanOf(400_000))),
    ).then(() => void (isDone = true));
    const turnsMs: number[] = [];
    while (!isDone) {
      turnsMs.push(await processorMsOf(turn));
    }
    await scans;
    // With a share for each text in every turn, all would be long.
    expect(turnsMs.filter((ms) => ms < 20).length).toBeGreaterThan(turnsMs.length * 0.8);
    expect(turnsMs.length).toBeGreaterThan(20);
  });

  it('schedules tenants fairly, so that many texts of one do not delay another', async () => {
    const ended: string[] = [];
    const begin = (tenantId: string, count: number) =>
      Array.from({ length: count }, async () => {
        await scanner.scan(guardrailsOf(tenantId, 5), scanOf(200_000));
        ended.push(tenantId);
      });
    await Promise.all([...begin('busy', 30), ...begin('quiet', 1)]);
    expect(ended.indexOf('quiet')).toBeLessThan(5);
  });

  it('ends when cancelled', async () => {
    const leaving = new AbortController();
    const guardrails = guardrailsOf('gone', 20);
    const scan = scanner.scan(guardrails, scanOf(8_000_000, leaving.signal));
    await turn();
    leaving.abort();
    const startedMs = performance.now();
    expect(await scan).toMatchObject({ matched: [], unfinished: guardrails });
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });
});
