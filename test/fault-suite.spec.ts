import { beforeAll, describe, expect, it } from '@jest/globals';

/** The facts about a call that `bench/soak/faults/verdicts.mjs` needs. */
interface Seen {
  verdict: string;
  requestId?: string;
  alias: string;
  instance: string;
  cost: number;
  maxCost: number;
  startedAtMs: number;
  endedAtMs: number;
  fault?: string;
  status?: string;
}
interface Row {
  request_id?: string;
  model?: string;
  outcome: string;
  usage_source: string;
  cost: number;
  shortfall: number;
}
interface History {
  killsOf: (instance: string) => number[];
  outages: { fromMs: number; untilMs: number }[];
}
interface Verdicts {
  judge: (
    seen: Seen,
    row: Row | undefined,
    history: History,
  ) => { violation?: string; unwritten?: boolean };
  judgeUnknown: (rows: Row[], calls: Seen[]) => string[];
}
interface Plans {
  makePlan: (options: Record<string, number>) => {
    calls: { kind: string; trouble?: string }[];
    lanes: { faults: { kind: string; atSeconds: number; seconds: number }[] }[];
  };
}

const FAULTS = new URL('../bench/soak/faults/', import.meta.url);

describe('the fault suite', () => {
  let verdicts: Verdicts;
  let plans: Plans;

  beforeAll(async () => {
    verdicts = (await import(new URL('verdicts.mjs', FAULTS).href)) as Verdicts;
    plans = (await import(new URL('plan.mjs', FAULTS).href)) as Plans;
  });

  const seen = (verdict: string, fields: Partial<Seen> = {}): Seen => ({
    verdict,
    requestId: 'id',
    alias: 'bench/chat',
    instance: 'gateway-0',
    cost: 100,
    maxCost: 1_000,
    startedAtMs: 50_000,
    endedAtMs: 60_000,
    ...fields,
  });
  const row = (outcome: string, cost: number, fields: Partial<Row> = {}): Row => ({
    outcome,
    cost,
    usage_source: 'upstream',
    shortfall: 0,
    ...fields,
  });
  const quiet: History = { killsOf: () => [], outages: [] };
  const killedAt = (ms: number, outages: History['outages'] = []): History => ({
    killsOf: (name) => (name === 'gateway-0' ? [ms] : []),
    outages,
  });
  const outage = { fromMs: 59_000, untilMs: 64_000 };

  it.each<[string, Seen, Row | undefined, History]>([
    ['a delivered answer at its price', seen('delivered'), row('completed', 100), quiet],
    ['a refusal that is not in the log', seen('refused'), undefined, quiet],
    ['a refusal without a charge', seen('refused'), row('failed', 0), quiet],
    ['a failed stream without a charge', seen('told'), row('failed', 0), quiet],
    [
      'a timeout charged for an estimate',
      seen('told'),
      row('timeout', 90, { usage_source: 'estimated' }),
      quiet,
    ],
    [
      'a disconnected caller charged for an estimate',
      seen('left'),
      row('cancelled', 900, { usage_source: 'estimated' }),
      quiet,
    ],
    ['a disconnected caller charged the price', seen('left'), row('cancelled', 100), quiet],
    [
      'an answer settled just before the kill',
      seen('broken'),
      row('completed', 100),
      killedAt(59_000),
    ],
    ['an answer that died with its process', seen('broken'), row('crashed', 0), killedAt(59_000)],
    [
      'a completed response',
      seen('background', { status: 'completed' }),
      row('completed', 100),
      quiet,
    ],
    ['a failed response', seen('background', { status: 'failed' }), row('failed', 0), quiet],
  ])('finds nothing in %s', (_what, call, logged, history) => {
    expect(verdicts.judge(call, logged, history)).toEqual({});
  });

  it.each<[string, Seen, Row | undefined, History]>([
    ['a delivered answer that is not in the log', seen('delivered'), undefined, quiet],
    ['a delivered answer that was free', seen('delivered'), row('completed', 0), quiet],
    ['a delivered answer that cost more', seen('delivered'), row('completed', 101), quiet],
    ['a delivered answer that failed', seen('delivered'), row('failed', 0), quiet],
    [
      'an answer lost in a kill while the database was available',
      seen('delivered'),
      row('crashed', 0),
      killedAt(61_000),
    ],
    [
      'an answer lost in an outage although no process was killed',
      seen('delivered'),
      undefined,
      { ...quiet, outages: [outage] },
    ],
    ['a shortfall', seen('delivered'), row('completed', 100, { shortfall: 1 }), quiet],
    ['a refusal that costs something', seen('refused'), row('failed', 1), quiet],
    ['a failed stream that costs something', seen('told'), row('failed', 100), quiet],
    [
      'a charge for an answer that was cut without a kill',
      seen('broken'),
      row('completed', 100),
      quiet,
    ],
    [
      'a higher charge for an answer that was cut by a kill',
      seen('broken'),
      row('completed', 99),
      killedAt(59_000),
    ],
    [
      'a disconnected caller charged more than the hold',
      seen('left'),
      row('cancelled', 1_001, { usage_source: 'estimated' }),
      quiet,
    ],
    [
      'a disconnected caller charged other than the vendor’s figures',
      seen('left'),
      row('cancelled', 99),
      quiet,
    ],
    ['a missing response', seen('background', { status: 'a 404' }), undefined, quiet],
    [
      'a completed response that was free',
      seen('background', { status: 'completed' }),
      row('failed', 0),
      quiet,
    ],
    ['another caller’s answer', seen('wrong'), row('completed', 100), quiet],
  ])('finds %s', (_what, call, logged, history) => {
    expect(verdicts.judge(call, logged, history).violation).toContain('bench/chat');
  });

  it('counts tolerated losses of a process that died while the database was unavailable', () => {
    const history = killedAt(62_000, [outage]);
    expect(verdicts.judge(seen('delivered'), row('crashed', 0), history)).toEqual({
      unwritten: true,
    });
    expect(verdicts.judge(seen('delivered'), undefined, history)).toEqual({ unwritten: true });
    // The database had recovered long before.
    const later = verdicts.judge(seen('delivered'), undefined, killedAt(80_000, [outage]));
    expect(later.violation).toBeDefined();
  });

  it('attributes rows without a known id to calls whose head never arrived', () => {
    const calls = [seen('left'), seen('broken', { cost: 200 })];
    const known = [row('completed', 200), row('crashed', 0)];
    expect(verdicts.judgeUnknown(known, calls)).toEqual([]);
    expect(verdicts.judgeUnknown([...known, row('crashed', 0)], calls)).toHaveLength(1);
    expect(verdicts.judgeUnknown([row('completed', 150)], calls)).toHaveLength(1);
    expect(
      verdicts.judgeUnknown([row('completed', 200), row('completed', 200)], calls),
    ).toHaveLength(1);
  });

  it('plans the same for the same seed, with the requested number of faults', () => {
    const options = { seed: 7, requests: 500, faults: 100, seconds: 60, tenants: 50, gateways: 3 };
    const plan = plans.makePlan(options);
    expect(plans.makePlan(options)).toEqual(plan);
    expect(plans.makePlan({ ...options, seed: 8 })).not.toEqual(plan);
    const ofProcesses = plan.lanes.flatMap(({ faults }) => faults);
    const ofRequests = plan.calls.filter(
      ({ kind, trouble }) => trouble !== undefined || kind.startsWith('leaves-'),
    );
    expect(plan.calls).toHaveLength(500);
    expect(ofProcesses.length + ofRequests.length).toBe(100);
    expect(ofProcesses.filter(({ kind }) => kind === 'kill-gateway').length).toBeGreaterThan(0);
  });
});
