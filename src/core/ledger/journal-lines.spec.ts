import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { FREE } from '../../canonical/exact-pricing.js';
import { NO_USAGE } from '../../canonical/usage.js';
import {
  readJournalText,
  toJournalEnd,
  toJournalLine,
  type JournalledSettlement,
} from './journal-lines.js';

const settlement = (credits: number): JournalledSettlement => ({
  charge: { modelCharge: credits, byokPlatformFee: 0, managedToolFee: 2 },
  hadHold: true,
  log: {
    requestId: randomUUID(),
    tenantId: randomUUID(),
    apiKeyId: randomUUID(),
    endpoint: 'chat',
    model: 'a/b "c" 模\n型',
    provider: 'a',
    outcome: 'completed',
    errorType: null,
    finishReason: 'stop',
    trafficMode: 'shared',
    usage: { ...NO_USAGE, inputTokens: 3, outputTokens: 4, reasoningTokens: 1, webSearches: 2 },
    usageSource: 'upstream',
    billingNote: null,
    streamed: true,
    flagged: false,
    latencyMs: 12,
    generationTimeMs: 7,
    firstTokenMs: 5,
    vendorCost: credits,
    vendorStartedMs: undefined,
    attempts: [
      {
        route: 'a/b',
        outcome: 'rate_limit',
        status: 429,
        started_ms: 1,
        duration_ms: 2,
        continues_at: 5,
        hedged: true,
        vendor_cost: 0,
      },
    ],
    endUser: 'ann',
    tags: { team: 'a' },
    requestOptions: { models: ['a/b', 'c/d'], max_tokens: 5 },
    maxCost: 3,
    createdAt: new Date(),
    billedBy: { pricing: { ...FREE, prompt: 7n, audioMinute: 10n ** 18n }, byokFeePercent: 5 },
  },
});

describe(readJournalText.name, () => {
  const settlements = [settlement(1), settlement(2), settlement(Number.MAX_SAFE_INTEGER - 2)];
  const lines = settlements.map(toJournalLine);
  const whole = lines.join('') + toJournalEnd(3);

  it('round-trips settlements', () => {
    expect(readJournalText(whole)).toEqual({ settlements, damagedLines: [], isComplete: true });
  });

  it('reads lines without attempts, tags and vendor costs, as older versions wrote them', () => {
    const { log, ...rest } = settlement(1);
    const {
      firstTokenMs,
      vendorCost,
      attempts,
      endUser,
      tags,
      requestOptions: asked,
      ...older
    } = log;
    const known = { firstTokenMs, vendorCost, attempts, endUser, tags, asked };
    const text = toJournalLine({ log: older, ...rest }) + toJournalEnd(1);
    expect(text).not.toMatch(new RegExp(Object.keys(known).join('|')));
    const [read] = readJournalText(text).settlements;
    expect(read).toEqual({ ...rest, log: { ...older, vendorCost: 0 } });
  });

  it('drops invalid attempts and keeps the settlement', () => {
    const { log, ...rest } = settlement(1);
    const attempts = [{ ...log.attempts![0]!, started_ms: NaN }];
    const text = toJournalLine({ log: { ...log, attempts }, ...rest }) + toJournalEnd(1);
    const [read] = readJournalText(text).settlements;
    expect(read).toMatchObject({ charge: rest.charge, log: { attempts: undefined } });
  });

  it('reports the last line as damaged when the process died while writing it', () => {
    for (const cut of [1, 40, lines[2]!.length - 2]) {
      const torn = lines.slice(0, 2).join('') + lines[2]!.slice(0, cut);
      const [first, second] = settlements;
      expect(readJournalText(torn)).toMatchObject({
        settlements: [first, second],
        damagedLines: [3],
        isComplete: false,
      });
    }
  });

  it('reports a missing end marker when the process died between two lines', () => {
    const text = readJournalText(lines.join(''));
    expect(text.settlements).toHaveLength(3);
    expect(text).toMatchObject({ damagedLines: [4], isComplete: false });
    expect(readJournalText('')).toMatchObject({ damagedLines: [1], isComplete: false });
  });

  it.each([
    ['a changed figure', (line: string) => line.replace('"modelCharge":2', '"modelCharge":1')],
    ['another layout', (line: string) => line.replace('{"v":1', '{"v":2')],
    ['no JSON', () => 'hello\n'],
    ['JSON of another kind', () => '{"v":1,"content":{"settlement":{}}}\n'],
    ['an array', () => '[]\n'],
    ['nothing', () => '\n'],
  ])('skips a line with %s and reads the others', (_what, change) => {
    const [first, second, third] = lines as [string, string, string];
    const text = readJournalText(first + change(second) + third + toJournalEnd(3));
    expect(text).toEqual({
      settlements: [settlements[0], settlements[2]],
      damagedLines: [2],
      isComplete: true,
    });
  });

  it('keeps the charge when other figures are invalid, and cuts long texts', () => {
    const odd = settlement(5);
    odd.log.usage.inputTokens = NaN;
    odd.log.model = 'm'.repeat(100_000);
    const line = toJournalLine(odd);
    expect(line.length).toBeLessThan(2_000);
    const [read] = readJournalText(line).settlements;
    expect(read).toMatchObject({
      charge: odd.charge,
      log: { usage: { inputTokens: 0, outputTokens: 4 } },
    });
  });
});
