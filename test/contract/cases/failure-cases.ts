import { expect } from '@jest/globals';
import type { UpstreamFailure } from '../../../src/vendors/upstream-error.js';
import type { ContractCase } from '../contract-case.js';
import type { FailureKind } from '../contract-vendor.js';

/** The party at fault for each of a vendor's refusals. */
const KINDS: [name: string, kind: FailureKind, failure: UpstreamFailure][] = [
  ['an overloaded vendor', 'overloaded', 'server'],
  ["the vendor's own error", 'server', 'server'],
  ['a bad key', 'bad_key', 'operator'],
  ['a bad request', 'bad_request', 'caller'],
  ['a prompt that is too long', 'context_length', 'context_length'],
];

export const FAILURE_CASES: readonly ContractCase[] = [
  {
    name: 'a rate limit, and how long to wait',
    async run(bench, streamed) {
      const reply = bench.vendor.failure('rate_limited');
      const headers = { 'retry-after': '7', ...reply.headers };
      const { answer, failure } = await bench.replied({ ...reply, headers }, streamed);
      expect(failure?.failure).toBe('rate_limited');
      const requestedMs = Number(headers['retry-after']) * 1_000;
      expect(failure?.retryAfterMs).toBeGreaterThan(requestedMs - 1_000);
      expect(failure?.retryAfterMs).toBeLessThanOrEqual(requestedMs);
      expect(answer.finish).toBeUndefined();
    },
  },
  ...KINDS.map(([name, kind, expected]): ContractCase => ({
    name,
    async run(bench, streamed) {
      const { answer, failure } = await bench.replied(bench.vendor.failure(kind), streamed);
      expect(failure?.failure).toBe(expected);
      expect(answer).toMatchObject({ text: '', finish: undefined });
    },
  })),
  {
    name: 'a failure in the middle of an answer',
    only: 'streamed',
    appliesTo: (vendor) => vendor.streamFailure !== undefined,
    async run(bench) {
      const { answer, failure } = await bench.replied(bench.vendor.streamFailure!('Once '), true);
      expect(failure).toBeDefined();
      expect(answer).toMatchObject({ text: 'Once ', finish: undefined });
    },
  },
];
