import { describe, expect, it } from '@jest/globals';
import { requestLogRow } from '../../../test/support/request-log-rows.js';
import { LOG_CSV_HEADER, toLogCsv, toLogRow } from './log-rows.js';

describe(toLogRow.name, () => {
  it('has the public API’s fields, followed by the gateway’s own', () => {
    const row = requestLogRow({
      id: '42',
      trafficMode: 'byok',
      promptTokens: 420,
      completionTokens: 96,
      cost: 28,
      modelCharge: 0,
      byokPlatformFee: 8,
      managedToolFee: 20,
      billingNote: 'Billed by your provider.',
      latencyMs: 1830,
      generationTimeMs: 1510,
      firstTokenMs: 320,
      streamed: true,
      vendorCost: 28,
      attempts: [
        {
          route: 'a/b',
          outcome: 'answered',
          status: 200,
          started_ms: 2,
          duration_ms: 1828,
          vendor_cost: 28,
        },
      ],
      endUser: 'ann',
      tags: { team: 'a' },
      otherUsage: '{"web_searches":1,"asked":{"max_tokens":99}}',
      createdAt: new Date('2026-01-15T12:00:00.125Z'),
    });
    expect(Object.entries(toLogRow(row))).toEqual(
      Object.entries({
        id: '42',
        request_id: row.requestId,
        model: 'sandbox/echo',
        provider: 'sandbox',
        status: 'success',
        traffic_mode: 'byok',
        tokens: { prompt: 420, completion: 96, total: 516 },
        cost: 28,
        cost_breakdown: {
          model_charge: 0,
          byok_platform_fee: 8,
          managed_tool_fee: 20,
          agent_runtime_fee: 0,
          total_charge: 28,
        },
        skills_used: [],
        billing_note: 'Billed by your provider.',
        latency_ms: 1830,
        created_at: '2026-01-15T12:00:00.125Z',
        endpoint: 'chat',
        api_key_id: row.apiKeyId,
        outcome: 'completed',
        error_type: null,
        usage_source: 'upstream',
        first_token_ms: 320,
        tokens_per_second: 63.6,
        vendor_cost: 28,
        attempts: row.attempts,
        recovered: false,
        end_user: 'ann',
        tags: { team: 'a' },
        asked: { max_tokens: 99 },
        config_version: null,
      }),
    );
  });

  it.each([
    ['answered', true],
    ['unjoined', false],
  ])('is recovered when the continuing attempt is %s', (outcome, recovered) => {
    const attempt = { status: 200, started_ms: 2, duration_ms: 8, vendor_cost: 1 };
    const attempts = [
      { ...attempt, route: 'a/b', outcome: 'reset' },
      { ...attempt, route: 'c/b', outcome, continues_at: 12 },
    ];
    expect(toLogRow(requestLogRow({ attempts }))).toMatchObject({ recovered });
  });

  it('has no speed for an answer in one piece, and no tags if there are none', () => {
    const row = requestLogRow({ streamed: false, tags: null });
    expect(toLogRow(row)).toMatchObject({ tokens_per_second: null, tags: {}, asked: null });
    const empty = requestLogRow({ streamed: true, completionTokens: 0 });
    expect(toLogRow(empty).tokens_per_second).toBeNull();
  });

  it('reports the error and the lack of usage', () => {
    const row = requestLogRow({
      status: 'error',
      outcome: 'failed',
      errorType: 'provider_error',
      usageSource: 'none',
      promptTokens: 0,
      completionTokens: 0,
      cost: 0,
      modelCharge: 0,
    });
    expect(toLogRow(row)).toMatchObject({
      status: 'error',
      outcome: 'failed',
      error_type: 'provider_error',
      usage_source: 'none',
      tokens: { prompt: 0, completion: 0, total: 0 },
      cost_breakdown: { model_charge: 0, total_charge: 0 },
    });
  });
});

describe(toLogCsv.name, () => {
  const names = LOG_CSV_HEADER.trimEnd().split(',');

  it('has a column for everything in a row', () => {
    const shown = Object.entries(toLogRow(requestLogRow({}))).flatMap(([name, value]) =>
      name === 'tokens' || name === 'cost_breakdown'
        ? Object.keys(value as object).map((part) => `${name}_${part}`)
        : [name],
    );
    expect([...names].sort()).toEqual([...shown, 'attempt_list'].sort());
  });

  it('marks recovered requests, and lists the cost of several attempts', () => {
    const attempt = { status: 200, started_ms: 2, duration_ms: 8 };
    const attempts = [
      { ...attempt, route: 'a/b', outcome: 'outpaced', vendor_cost: 3 },
      { ...attempt, route: 'c/b', outcome: 'answered', continues_at: 12, vendor_cost: 4 },
    ];
    const cellsOf = (row: Parameters<typeof requestLogRow>[0]): string => {
      const [line] = toLogCsv([requestLogRow({ configVersion: 7, ...row })]).split('\r\n');
      return line!.split(',').slice(names.indexOf('recovered')).join(',');
    };
    expect(cellsOf({ attempts })).toBe(
      `true,7,"${JSON.stringify(attempts).replaceAll('"', '""')}"`,
    );
    expect(cellsOf({ attempts: [] })).toBe('false,7,');
    expect(cellsOf({ attempts: attempts.slice(1) })).toBe('true,7,');
  });
});
