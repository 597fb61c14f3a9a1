import { Logger } from '@nestjs/common';
import { describe, expect, it, jest } from '@jest/globals';
import type { RecordedTrace } from '../../core/tracing/recorded-trace.js';
import type { TracingService } from '../../core/tracing/tracing.service.js';
import { MAX_BUFFERED_TRACES_PER_TENANT } from './broadcast-limits.js';
import type { BroadcastMetrics, DropReason } from './broadcast-metrics.js';
import type { DeliveryWriter } from './delivery-writer.service.js';
import type { DestinationDirectory } from './destination-directory.service.js';
import type { DestinationChoice } from './destination.repository.js';
import type { LostTraces } from './lost-traces.service.js';
import { testTrace } from './test-trace.js';
import type { TraceBatch } from './trace-batch.js';
import { TraceBuffer } from './trace-buffer.service.js';

const CHOICE: DestinationChoice = {
  id: 'd',
  samplingRate: 1,
  includesContent: false,
  scopeKeyId: null,
  isFailing: false,
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A buffer whose writer writes at once, or never when slow. */
function openBuffer(destinations: DestinationChoice[], { isSlow = false } = {}) {
  const written: TraceBatch[] = [];
  const lost: [string, number, DropReason][] = [];
  const known = { now: destinations as DestinationChoice[] | Promise<DestinationChoice[]> };
  const directory = {
    peek: () => (known.now instanceof Promise ? undefined : known.now),
    of: () => known.now,
  } as unknown as DestinationDirectory;
  const writer = {
    isFull: () => false,
    write: (batch: TraceBatch) => {
      written.push(batch);
      return isSlow ? new Promise<void>(() => undefined) : Promise.resolve();
    },
    drain: () => Promise.resolve(),
  } as unknown as DeliveryWriter;
  const losses = {
    count: (...loss: [string, number, DropReason]) => lost.push(loss),
  } as unknown as LostTraces;
  const metrics = { countDropped: () => undefined } as unknown as BroadcastMetrics;
  const tracing = { addSink: () => undefined } as unknown as TracingService;
  const buffer = new TraceBuffer(tracing, directory, writer, losses, metrics);
  const traces = (): number => written.reduce((sum, { traceCount }) => sum + traceCount, 0);
  return { buffer, written, lost, traces, known };
}

describe(TraceBuffer.name, () => {
  it('writes traces that arrive just before and during shutdown', async () => {
    const { buffer, traces, known } = openBuffer([CHOICE]);
    setImmediate(() => buffer.accept(testTrace('t')));
    known.now = turn().then(() => [CHOICE]);
    buffer.accept(testTrace('t'));
    await buffer.beforeApplicationShutdown();
    expect(traces()).toBe(2);
    known.now = [CHOICE];
    buffer.accept(testTrace('t'));
    expect(traces()).toBe(3);
  });

  it.each([
    [250, [CHOICE]],
    [250, [CHOICE, { ...CHOICE, id: 'e', isFailing: true }]],
    [1_000, [{ ...CHOICE, isFailing: true }]],
  ])('buffers at most %s traces for %j', (most, destinations) => {
    const { buffer, written, traces } = openBuffer(destinations);
    for (let count = 1; count < most; count++) buffer.accept(testTrace('t'));
    expect(traces()).toBe(0);
    buffer.accept(testTrace('t'));
    expect(traces()).toBe(most);
    // The batch size stays the same.
    expect(Math.max(...written.map(({ traceCount }) => traceCount))).toBe(250);
  });

  it('needs no trace of a request that no destination samples', () => {
    const { buffer } = openBuffer([{ ...CHOICE, samplingRate: 0.5 }]);
    const interest = (traceId: string, isBroadcast = true) => {
      const { context } = testTrace('t');
      return buffer.interestIn({
        tenantId: 't',
        isBroadcast,
        contentLog: null,
        context: () => ({ ...context, traceId }),
      });
    };
    expect(interest('f'.repeat(32))).toBe('figures');
    expect(interest('0'.repeat(32))).toBe('none');
    expect(interest('f'.repeat(32), false)).toBe('none');
  });

  it('leaves room for other tenants when one fills its share', () => {
    const { buffer, lost, traces } = openBuffer([CHOICE], { isSlow: true });
    for (let count = 0; count < MAX_BUFFERED_TRACES_PER_TENANT + 5; count++) {
      buffer.accept(testTrace('greedy'));
    }
    expect(lost).toEqual(Array.from({ length: 5 }, () => ['d', 1, 'buffer_full']));
    const before = traces();
    for (let count = 0; count < 250; count++) buffer.accept(testTrace('modest'));
    expect([lost.length, traces()]).toEqual([5, before + 250]);
  });

  it('counts a trace that cannot be built for every destination', () => {
    const { buffer, lost, traces } = openBuffer([CHOICE, { ...CHOICE, id: 'e' }]);
    const broken = { ...testTrace('t'), attempts: undefined } as unknown as RecordedTrace;
    const complaint = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    buffer.accept(broken);
    expect(complaint).toHaveBeenCalledWith(expect.stringContaining('trace not built'));
    complaint.mockRestore();
    expect([lost, traces()]).toEqual([
      [
        ['d', 1, 'faulty'],
        ['e', 1, 'faulty'],
      ],
      0,
    ]);
  });
});
