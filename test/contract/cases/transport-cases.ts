import { expect } from '@jest/globals';
import { CallAbortedError } from '../../../src/vendors/transport/upstream-response.js';
import { cuttingsOf } from '../../support/cuttings.js';
import { until } from '../../support/until.js';
import { slices } from '../../support/vendor-stream.js';
import { within } from '../../support/within.js';
import { ContractBench, type Outcome } from '../contract-bench.js';
import type { ContractCase } from '../contract-case.js';
import { LAST_WORD, USAGE } from '../contract-conversation.js';
import type { Reply, ScriptedAnswer } from '../contract-vendor.js';
import { expectAnswer } from './answer-cases.js';

const HANG_UP_MS = 10_000;
const UNICODE: ScriptedAnswer = { text: 'Grüße, 世界 👩‍🚀', finish: 'stop', usage: USAGE };
const LONG_TEXT_CHARACTERS = 10 * 1024 * 1024;

/** Results do not depend on how bytes are split; disconnecting ends the call. */
export const TRANSPORT_CASES: readonly ContractCase[] = [
  {
    name: 'split at every byte',
    timeoutMs: 120_000,
    async run(bench, streamed) {
      const reply = bench.encode(UNICODE, streamed);
      for (const pieces of cuttingsOf(reply.body)) {
        expectAnswer(await bench.piecemeal(reply, pieces, 'end', streamed), UNICODE);
      }
    },
  },
  {
    name: 'byte by byte',
    async run(bench, streamed) {
      const reply = bench.encode(UNICODE, streamed);
      const outcome = await bench.piecemeal(reply, slices(reply.body, 1), 'end', streamed);
      expectAnswer(outcome, UNICODE);
    },
  },
  {
    name: 'lines that end in CR LF',
    only: 'streamed',
    appliesTo: (vendor) => isEventStream(vendor.stream(UNICODE)),
    async run(bench) {
      const reply = bench.vendor.stream(UNICODE);
      const body = Buffer.from(reply.body.toString().replaceAll(/\r?\n/g, '\r\n'));
      expectAnswer(await bench.replied({ ...reply, body }, true), UNICODE);
      expectAnswer(await bench.piecemeal(reply, slices(body, 1), 'end', true), UNICODE);
    },
  },
  {
    name: 'an event of 10 MB',
    timeoutMs: 60_000,
    async run(bench, streamed) {
      const text = 'ä'.repeat(LONG_TEXT_CHARACTERS / 2);
      const outcome = await bench.answered({ ...LAST_WORD, text }, streamed);
      expect(outcome.failure).toBeUndefined();
      expect(outcome.answer.text === text).toBe(true);
      expect(outcome.answer.finish).toBe('stop');
    },
  },
  {
    name: 'a caller that disconnects before the answer',
    async run(bench, streamed) {
      const aborter = new AbortController();
      const called = bench.server.calls.length;
      const asking = bench.piecemeal(bench.encode(LAST_WORD, streamed), [], 'hang', streamed, {
        signal: aborter.signal,
      });
      await expectHangUp(bench, called, asking, aborter);
    },
  },
  {
    name: 'a caller that disconnects in the middle of the answer',
    async run(bench, streamed) {
      const aborter = new AbortController();
      const called = bench.server.calls.length;
      const reply = bench.encode(LAST_WORD, streamed);
      const half = streamed
        ? bench.vendor.stream(LAST_WORD).pieces.slice(0, -4)
        : [reply.body.subarray(0, reply.body.length / 2)];
      const asking = bench.piecemeal(reply, half, 'hang', streamed, { signal: aborter.signal });
      await expectHangUp(bench, called, asking, aborter);
    },
  },
];

/** Disconnects once the vendor was called, and waits until the vendor notices. */
async function expectHangUp(
  bench: ContractBench,
  called: number,
  asking: Promise<Outcome>,
  aborter: AbortController,
): Promise<void> {
  const ended = expect(asking).rejects.toBeInstanceOf(CallAbortedError);
  await until(() => bench.server.calls.length > called, HANG_UP_MS);
  // Gives the vendor's bytes time to arrive.
  await new Promise((resolve) => setTimeout(resolve, 30));
  aborter.abort();
  await within(HANG_UP_MS, bench.server.calls[called]!.hungUp);
  await ended;
}

function isEventStream({ headers }: Reply): boolean {
  return Object.entries(headers).some(
    ([name, value]) =>
      name.toLowerCase() === 'content-type' && value.startsWith('text/event-stream'),
  );
}
