import { describe, expect, it } from '@jest/globals';
import { toSpans } from '../tracing/to-spans.js';
import { TENANT_RESOURCE } from '../tracing/trace-resource.js';
import { testTrace } from './test-trace.js';
import { TraceBatch, renderTrace } from './trace-batch.js';

interface Request {
  resourceSpans: { scopeSpans: { spans: { name: string }[] }[] }[];
}

function rendered(): Buffer {
  const resource = TENANT_RESOURCE;
  return renderTrace(
    toSpans(testTrace('t'), { audience: 'tenant', resource, includeContent: false }),
  );
}

describe(TraceBatch.name, () => {
  it.each([1, 3])('is one request with all spans of %s traces', (traces) => {
    const batch = new TraceBatch('d');
    for (let count = 0; count < traces; count++) batch.add(rendered());
    const request = JSON.parse(batch.serialize().toString()) as Request;
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

  it('is full with a hundred traces, or half a megabyte', () => {
    const many = new TraceBatch('d');
    for (let count = 0; count < 99; count++) many.add(Buffer.from('{}'));
    expect(many.isFull).toBe(false);
    many.add(Buffer.from('{}'));
    expect(many.isFull).toBe(true);
    const large = new TraceBatch('d');
    large.add(Buffer.alloc(512 * 1024));
    expect(large.isFull).toBe(true);
  });
});
