import { describe, expect, it } from '@jest/globals';
import { NO_USAGE } from '../../canonical/usage.js';
import type { RequestLogDraft } from '../request-log/request-log-row.js';
import { blankLog, toLogRow } from './ledger-rows.js';

const DRAFT: RequestLogDraft = {
  requestId: '6b2ba4be-19c5-4e0e-8b5b-9fd0f1f5e4a1',
  tenantId: '6b2ba4be-19c5-4e0e-8b5b-9fd0f1f5e4a2',
  apiKeyId: '6b2ba4be-19c5-4e0e-8b5b-9fd0f1f5e4a3',
  endpoint: 'chat',
  model: 'openai/gpt-4o-mini',
  provider: 'openai',
  outcome: 'completed',
  errorType: null,
  finishReason: 'stop',
  trafficMode: 'byok',
  usage: NO_USAGE,
  usageSource: 'estimated',
  billingNote: 'note',
  streamed: true,
  latencyMs: 5,
  generationTimeMs: 4,
  createdAt: new Date('2026-01-02T03:04:05Z'),
};
const FREE = {
  charge: { modelCharge: 0, byokPlatformFee: 0, managedToolFee: 0 },
  cost: 0,
  shortfall: 0,
};

describe(toLogRow.name, () => {
  it('fits counts into an int4', () => {
    const row = toLogRow(
      {
        ...DRAFT,
        usage: {
          ...NO_USAGE,
          inputTokens: 2 ** 31,
          outputTokens: Infinity,
          cacheReadTokens: NaN,
          cacheWriteTokens: -3,
          reasoningTokens: 2.9,
        },
        latencyMs: 1.5,
      },
      FREE,
    );
    expect(row).toMatchObject({
      prompt_tokens: 2 ** 31 - 1,
      completion_tokens: 2 ** 31 - 1,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      reasoning_tokens: 2,
      latency_ms: 1,
    });
  });

  it('escapes text that PostgreSQL rejects and keeps null', () => {
    const row = toLogRow({ ...DRAFT, finishReason: 'a\u0000b', billingNote: null }, FREE);
    expect(row).toMatchObject({ finish_reason: 'a\\u0000b', billing_note: null, error_type: null });
  });
});

describe(blankLog.name, () => {
  it('keeps storable values except texts', () => {
    expect(blankLog(DRAFT)).toEqual({
      ...DRAFT,
      endpoint: '',
      model: '',
      provider: '',
      finishReason: null,
      billingNote: null,
    });
  });

  it('replaces values that no column accepts', () => {
    const unstorable = {
      ...DRAFT,
      apiKeyId: 'sk-1',
      outcome: 'exploded',
      trafficMode: 'none',
      usageSource: 'guessed',
      createdAt: new Date(NaN),
    } as unknown as RequestLogDraft;
    const blanked = blankLog(unstorable);
    expect(blanked).toMatchObject({
      apiKeyId: '00000000-0000-0000-0000-000000000000',
      outcome: 'failed',
      trafficMode: 'shared',
      usageSource: 'none',
    });
    expect(Math.abs(blanked.createdAt.getTime() - Date.now())).toBeLessThan(60_000);
  });
});
