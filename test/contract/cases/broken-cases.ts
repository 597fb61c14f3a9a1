import { expect } from '@jest/globals';
import type { Outcome } from '../contract-bench.js';
import type { ContractCase } from '../contract-case.js';
import { firstTurn, LAST_WORD, TWO_CALLS, USAGE } from '../contract-conversation.js';
import type { ScriptedAnswer } from '../contract-vendor.js';

const SHORT: ScriptedAnswer = { text: 'Once upon a time', finish: 'stop', usage: USAGE };
/** Bytes that are neither text, JSON nor a message of any protocol; the same in every run. */
const GARBAGE = Buffer.from(Array.from({ length: 1_024 }, (_, index) => (index * 151 + 7) % 256));

/** Invalid and incomplete answers must fail, and never end in a way that the vendor did not report. */
export const BROKEN_CASES: readonly ContractCase[] = [
  {
    name: 'cut after any event',
    only: 'streamed',
    async run(bench) {
      for (const answer of [SHORT, TWO_CALLS]) {
        const reply = bench.vendor.stream(answer);
        const prompt = firstTurn();
        let failures = 0;
        for (let count = 0; count < reply.pieces.length; count++) {
          const pieces = reply.pieces.slice(0, count);
          const ended = await bench.piecemeal(reply, pieces, 'end', true, { prompt });
          // Anything after the last content may be missing, but not the last content.
          if (!ended.failure) {
            expect(ended.answer.finish).toBe(answer.finish);
            continue;
          }
          failures++;
          expectBroken(ended);
          expectBroken(await bench.piecemeal(reply, pieces, 'destroy', true, { prompt }));
        }
        // Only the complete last content suffices.
        expect(failures).toBeGreaterThan(reply.pieces.length / 2);
      }
    },
  },
  {
    name: 'cut within the answer',
    only: 'whole',
    async run(bench) {
      const reply = bench.vendor.whole(SHORT);
      const half = reply.body.subarray(0, reply.body.length / 2);
      expectBroken(await bench.piecemeal(reply, [half], 'destroy', false));
    },
  },
  {
    name: 'no finish reason',
    only: 'streamed',
    async run(bench) {
      const { answer, failure } = await bench.answered({ ...SHORT, withoutFinish: true }, true);
      expect(failure?.failure).toBe('cut');
      expect(answer).toMatchObject({ text: SHORT.text, finish: undefined });
    },
  },
  {
    name: 'half an event or JSON',
    async run(bench, streamed) {
      if (!streamed) {
        const reply = bench.vendor.whole(SHORT);
        const body = reply.body.subarray(0, reply.body.length / 2);
        expectBroken(await bench.replied({ ...reply, body }, false));
        return;
      }
      const reply = bench.vendor.stream(SHORT);
      const middle = Math.floor(reply.pieces.length / 2);
      const torn = reply.pieces[middle]!;
      const pieces = reply.pieces.with(middle, torn.subarray(0, torn.length / 2));
      expectBroken(await bench.replied({ ...reply, body: Buffer.concat(pieces) }, true));
    },
  },
  {
    name: 'JSON nested deeper than any reader supports',
    only: 'whole',
    async run(bench) {
      const reply = bench.vendor.whole(SHORT);
      const deep = `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)},`;
      const body = Buffer.from(reply.body.toString().replace('{', deep));
      expectBroken(await bench.replied({ ...reply, body }, false));
    },
  },
  {
    name: 'garbage',
    async run(bench, streamed) {
      const reply = bench.encode(SHORT, streamed);
      expectBroken(await bench.replied({ ...reply, body: GARBAGE }, streamed));
    },
  },
  {
    name: 'nothing at all',
    async run(bench, streamed) {
      const reply = bench.encode(SHORT, streamed);
      expectBroken(await bench.replied({ ...reply, body: Buffer.alloc(0) }, streamed));
    },
  },
  {
    name: "a web page with the answer's status",
    async run(bench, streamed) {
      const headers = { 'content-type': 'text/html' };
      const body = Buffer.from('<html><body>Welcome</body></html>');
      const outcome = await bench.replied({ status: 200, headers, body }, streamed);
      expect(outcome.failure?.failure).toBe('unreadable');
      expectBroken(outcome);
    },
  },
  {
    name: 'a stream of the wrong content type',
    only: 'streamed',
    async run(bench) {
      const reply = bench.vendor.stream(LAST_WORD);
      const headers = { 'content-type': 'text/html' };
      const outcome = await bench.replied({ ...reply, headers }, true);
      expect(outcome.failure?.failure).toBe('unreadable');
      expectBroken(outcome);
    },
  },
];

function expectBroken({ answer, failure }: Outcome): void {
  expect(['cut', 'unreadable', 'reset']).toContain(failure?.failure);
  expect(answer.finish).toBeUndefined();
}
