import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { asAllVendorsSay, withoutIds, ANSWER_CASES } from './cases/answer-cases.js';
import { BROKEN_CASES } from './cases/broken-cases.js';
import { FAILURE_CASES } from './cases/failure-cases.js';
import { REQUEST_CASES } from './cases/request-cases.js';
import { TRANSPORT_CASES } from './cases/transport-cases.js';
import { ContractBench } from './contract-bench.js';
import { firstTurn, LAST_WORD, secondTurn, TWO_CALLS } from './contract-conversation.js';
import { ContractReport } from './contract-report.js';
import { ALL_VENDORS } from './vendors/all-vendors.js';

const CASES = [
  ...ANSWER_CASES,
  ...REQUEST_CASES,
  ...FAILURE_CASES,
  ...BROKEN_CASES,
  ...TRANSPORT_CASES,
];
const SAME = 'a conversation with tools that matches every other vendor';

const report = new ContractReport();
afterAll(() => report.print());

describe.each(ALL_VENDORS)('the adapter of $name', (vendor) => {
  let bench: ContractBench;
  beforeAll(async () => {
    bench = await ContractBench.start(vendor);
  });
  afterAll(() => bench.close());

  for (const kind of ['whole', 'streamed'] as const) {
    for (const one of CASES) {
      if (one.only !== undefined && one.only !== kind) continue;
      if (one.appliesTo?.(vendor) === false) continue;
      it(
        `${kind}: ${one.name}`,
        () => report.note(vendor.name, one.name, kind, () => one.run(bench, kind === 'streamed')),
        one.timeoutMs,
      );
    }
  }
});

describe('a conversation of two turns with parallel tools', () => {
  const [first, ...others] = ALL_VENDORS;

  /** Returns both turns as each vendor's adapter reports them. */
  async function converse(bench: ContractBench, streamed: boolean): Promise<object[]> {
    const opening = await bench.answered(TWO_CALLS, streamed, { prompt: firstTurn() });
    const ids = opening.answer.toolCalls.map((call) => call.id);
    const ending = await bench.answered(LAST_WORD, streamed, { prompt: secondTurn(ids) });
    expect([opening.failure, ending.failure]).toEqual([undefined, undefined]);
    return [opening, ending].map(({ answer }) => ({
      ...withoutIds(answer),
      usage: asAllVendorsSay(answer.usage),
    }));
  }

  for (const kind of ['whole', 'streamed'] as const) {
    it.each(others)(`${kind}: is the same at $name as at ${first!.name}`, async (vendor) => {
      const benches = [await ContractBench.start(first!), await ContractBench.start(vendor)];
      try {
        await report.note(vendor.name, SAME, kind, async () => {
          const [expected, actual] = await Promise.all(
            benches.map((bench) => converse(bench, kind === 'streamed')),
          );
          expect(actual).toEqual(expected);
        });
      } finally {
        await Promise.all(benches.map((bench) => bench.close()));
      }
    });
  }
});
