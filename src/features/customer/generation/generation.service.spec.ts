import { toDetails } from '../../../core/request-log/log-rows.js';
import { describe, expect, it } from '@jest/globals';
import { requestLogRow } from '../../../../test/support/request-log-rows.js';
import { toGenerationRecord } from './generation.service.js';

describe(toGenerationRecord.name, () => {
  it("returns the API's fields and the request's other figures", () => {
    const row = requestLogRow({
      model: 'openai/gpt-4o-mini',
      provider: 'openai',
      promptTokens: 420,
      completionTokens: 96,
      cost: 121,
      finishReason: 'length',
      streamed: true,
      latencyMs: 1830,
      generationTimeMs: 1510,
      createdAt: new Date('2026-01-15T12:00:00.125Z'),
    });
    expect(toGenerationRecord(row)).toEqual({
      id: row.requestId,
      model: 'openai/gpt-4o-mini',
      provider_name: 'openai',
      created_at: '2026-01-15T12:00:00.125Z',
      tokens_prompt: 420,
      tokens_completion: 96,
      latency: 1830,
      finish_reason: 'length',
      total_cost: 121,
      streamed: true,
      cancelled: false,
      generation_time: 1510,
      usage: 121,
      native_tokens_prompt: 420,
      native_tokens_completion: 96,
      ...toDetails(row),
    });
  });

  it.each(['estimated', 'none'] as const)('omits native counts when they are %s', (source) => {
    const record = toGenerationRecord(requestLogRow({ usageSource: source, promptTokens: 7 }));
    expect(record).toMatchObject({
      tokens_prompt: 7,
      native_tokens_prompt: null,
      native_tokens_completion: null,
    });
  });

  it('distinguishes a disconnected caller from a failure', () => {
    const left = toGenerationRecord(requestLogRow({ outcome: 'cancelled', finishReason: null }));
    const failed = toGenerationRecord(
      requestLogRow({ outcome: 'failed', status: 'error', finishReason: null }),
    );
    expect(left).toMatchObject({ cancelled: true, finish_reason: '' });
    expect(failed).toMatchObject({ cancelled: false, finish_reason: '' });
  });
});
