import { describe, expect, it } from '@jest/globals';
import { readTarget } from './faults.js';
import { TENANT, WINDOW, windowRow } from '../../../test/support/replay-environment.js';
import { passedBounds } from './bounds.js';
import { Comparison, Durations, Logged } from './comparison.js';
import type { WindowRow } from './log-window.js';
import type { ReplayResult } from './replay-result.js';
import { isCalibrated, makeReport } from './report.js';
import { reportPage } from './report-page.js';
import { reportLines } from './report-table.js';

const HOSTILE = `</td><script>alert("1")</script><img src=x onerror='x()'>\u001b[2J\u202e`;

function result(row: WindowRow, fields: Partial<ReplayResult> = {}): ReplayResult {
  return {
    ...{ row, copy: 0, outcome: 'answered', errorType: undefined, isPlayed: true },
    ...{ cost: row.cost, vendorCost: row.cost, provider: row.provider },
    ...{ firstMs: row.firstTokenMs ?? undefined, totalMs: row.latencyMs },
    ...fields,
  };
}

/** Ten requests: the last two fail or are refused, and one takes longer and costs more. */
function comparison(model = 'openai/gpt-x') {
  const compared = new Comparison(WINDOW);
  const logged = new Logged();
  const rows = Array.from({ length: 10 }, (_, index) => windowRow(index * 3_600_000, { model }));
  for (const [index, row] of rows.entries()) {
    logged.note(row);
    compared.note('before', result(row));
    const none = { cost: 0, firstMs: undefined, totalMs: undefined, provider: undefined };
    compared.note(
      'after',
      index === 9
        ? result(row, { outcome: 'failed', errorType: 'provider_error', ...none })
        : index === 8
          ? result(row, { outcome: 'no_credits', errorType: 'insufficient_credits', ...none })
          : index === 7
            ? result(row, { cost: 8_000, firstMs: 1_205, totalMs: 2_005, provider: 'azure' })
            : result(row),
    );
  }
  return { compared, logged };
}

function report(model?: string, tenant = 'acme') {
  const { compared, logged } = comparison(model);
  return makeReport({
    ...{ window: WINDOW, changes: ['without openai'], comparison: compared, logged },
    ...{ notPlayed: 0, withOptions: 4, calls: { log: 8, fault: 2, learned: 1, guessed: 0 } },
    ...{ tenantNames: new Map([[TENANT, tenant]]), warnings: [], passed: ['x'], seconds: 1.26 },
  });
}

describe(Durations.name, () => {
  it('estimates quantiles of positive and negative durations to a few percent', () => {
    const durations = new Durations();
    expect(durations.quantile(0.5)).toBeUndefined();
    for (let ms = -100; ms <= 900; ms++) durations.add(ms);
    expect(durations.quantile(0.5)).toBeGreaterThan(390);
    expect(durations.quantile(0.5)).toBeLessThan(412);
    expect(durations.quantile(0.99)).toBeGreaterThan(870);
    expect(durations.quantile(0.01)).toBeLessThan(-85);
    expect(durations.quantile(1)).toBeLessThan(925);
  });
});

describe(makeReport.name, () => {
  it('counts outcomes with and without the change', () => {
    const { all, groups, calibration, providers, series } = report();
    expect(all).toMatchObject({
      before: { requests: 10, answered: 10, failed: 0, no_credits: 0, cost: 20_000 },
      after: { requests: 10, answered: 8, failed: 1, no_credits: 1, cost: 22_000 },
      cost_increase: 0.1,
    });
    expect(all.added_first_ms.p50).toBe(0);
    expect(all.added_first_ms.p99).toBeGreaterThan(980);
    expect(groups).toMatchObject([{ tenant: 'acme', model: 'openai/gpt-x', ...all }]);
    expect(calibration).toMatchObject({ cost_deviation: 0, logged: { cost: 20_000 } });
    expect(providers.map(({ provider, after }) => [provider, after.answered])).toEqual([
      ['azure', 1],
      ['openai', 7],
    ]);
    expect(series.filter(({ before }) => before.requests > 0)).toHaveLength(10);
  });

  it('is calibrated when the replay without changes costs what was logged', () => {
    const { compared, logged } = comparison();
    const input = {
      ...{
        window: WINDOW,
        changes: [],
        comparison: compared,
        logged,
        notPlayed: 0,
        withOptions: 0,
        warnings: [],
      },
      ...{ calls: { log: 0, fault: 0, learned: 0, guessed: 0 }, passed: [], seconds: 0 },
      tenantNames: new Map<string, string>(),
    };
    expect(isCalibrated(makeReport(input))).toBe(true);
    logged.cost = 21_000;
    expect(isCalibrated(makeReport(input))).toBe(true);
    logged.cost = 21_100;
    expect(isCalibrated(makeReport(input))).toBe(false);
    logged.cost = 0;
    expect(isCalibrated(makeReport(input))).toBe(false);
  });
});

describe(passedBounds.name, () => {
  it.each([
    [{ maxFailures: 0.1 }, 0],
    [{ maxFailures: 0.099 }, 1],
    [{ maxAddedP95: 1_100 }, 0],
    [{ maxAddedP95: 500 }, 1],
    [{ maxCostIncrease: 0.1 }, 0],
    [{ maxCostIncrease: 0.09 }, 1],
    [{ max402: 1, max429: 0 }, 0],
    [{ max402: 0, maxFailures: 0 }, 2],
    [{}, 0],
  ])('checks %j', (bounds, passed) => {
    expect(passedBounds(bounds, comparison().compared)).toHaveLength(passed);
  });
});

describe(reportPage.name, () => {
  it('makes no requests and has no scripts', () => {
    const page = reportPage(report());
    expect(page).toMatch(
      /Content-Security-Policy" content="default-src 'none'; style-src 'sha256-/,
    );
    expect(page).not.toMatch(/<script|<link|<img|url\(|@import|\son\w+=|style="/);
    expect(page).not.toMatch(/(?:src|href)=/);
    expect(page.match(/<table>/g)).toHaveLength(3);
    expect(page.match(/<caption>/g)).toHaveLength(3);
    expect(page.match(/role="img" aria-label="[^"]+"/g)).toHaveLength(4);
  });

  it('escapes hostile names', () => {
    const page = reportPage(report(HOSTILE, HOSTILE));
    expect(page).not.toMatch(/<script|<img/);
    expect(page).toContain('&lt;script&gt;alert(&quot;1&quot;)');
  });
});

describe(reportLines.name, () => {
  it('escapes terminal control characters in names', () => {
    const lines = reportLines(report(HOSTILE, HOSTILE)).join('\n');
    for (const mark of ['\u001b', '\u202e']) expect(lines).not.toContain(mark);
    expect(lines).toContain('<script>');
    expect(lines).toContain('+10.00 %');
    expect(lines).toContain('Calibration: logged 20000 credits');
    expect(lines).toContain('Bound exceeded: x');
  });
});

describe(readTarget.name, () => {
  it.each([
    ['openai', { provider: 'openai', account: undefined, model: undefined }],
    ['openai:gpt-4o', { provider: 'openai', account: undefined, model: 'gpt-4o' }],
    ['bedrock@eu-west-1', { provider: 'bedrock', account: 'eu-west-1', model: undefined }],
    ['a@b:c/d:0', { provider: 'a', account: 'b', model: 'c/d:0' }],
  ])('reads %s', (text, expected) => {
    expect(readTarget(text)).toEqual({ text, ...expected });
  });

  it.each(['', ':gpt', '@eu', 'open ai', 'openai:', 'openai@'])('rejects %j', (text) => {
    expect(readTarget(text)).toBeUndefined();
  });
});
