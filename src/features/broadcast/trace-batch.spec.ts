import { describe, expect, it, jest } from '@jest/globals';
import { draftSpans } from '../../core/tracing/draft-spans.js';
import { renderBatch } from './render-batch.js';
import { testTrace } from './test-trace.js';
import { TraceBatch } from './trace-batch.js';

interface Request {
  resourceSpans: { scopeSpans: { spans: { name: string }[] }[] }[];
}

const drafts = () => draftSpans(testTrace('t'), { audience: 'tenant', includeContent: false });

describe(TraceBatch.name, () => {
  it.each([1, 3, 100])('renders %s traces as one request with all spans', async (traces) => {
    const batch = new TraceBatch(['d']);
    for (let count = 0; count < traces; count++) batch.add(JSON.stringify(drafts()));
    const request = JSON.parse(
      (await renderBatch(batch.serialize(), { includesContent: true })).toString(),
    ) as Request;
    const names = request.resourceSpans.flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap(({ spans }) => spans.map(({ name }) => name)),
    );
    expect(Object.keys(request)).toEqual(['resourceSpans']);
    expect(names).toHaveLength(2 * traces);
    expect(names.slice(0, 2)).toEqual([
      'gateway.broadcast.test',
      'attempt gateway/test via gateway',
    ]);
  });

  it('yields while rendering', async () => {
    const batch = new TraceBatch(['d']);
    for (let count = 0; count < 250; count++) batch.add(JSON.stringify(drafts()));
    // Each clock reading advances a quarter of a millisecond.
    let nowMs = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => (nowMs += 0.25));
    let isOver = false;
    let turns = 0;
    const count = (): unknown => !isOver && ++turns && setImmediate(count);
    setImmediate(count);
    await renderBatch(batch.serialize(), { includesContent: true });
    isOver = true;
    clock.mockRestore();
    expect(turns).toBeGreaterThan(20);
  });

  it('is full with 250 traces, or 320 KB', () => {
    const many = new TraceBatch(['d']);
    for (let count = 0; count < 249; count++) many.add('[]');
    expect(many.isFull).toBe(false);
    many.add('[]');
    expect(many.isFull).toBe(true);
    const large = new TraceBatch(['d']);
    large.add('x'.repeat(320 * 1024));
    expect(large.isFull).toBe(true);
  });
});
