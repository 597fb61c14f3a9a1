import { describe, expect, it } from '@jest/globals';
import { toSpans } from '../tracing/to-spans.js';
import { TENANT_RESOURCE } from '../tracing/trace-resource.js';
import { testTrace } from './test-trace.js';
import { TraceBatch, estimateBytes } from './trace-batch.js';

const spans = () =>
  toSpans(testTrace('t'), {
    audience: 'tenant',
    resource: TENANT_RESOURCE,
    includeContent: false,
  });

interface Request {
  resourceSpans: { scopeSpans: { spans: unknown[] }[] }[];
}

describe(TraceBatch.name, () => {
  it('is one request with all spans under one resource', () => {
    const batch = new TraceBatch('d');
    for (let count = 0; count < 3; count++) batch.add(spans(), 1);
    const request = JSON.parse(Buffer.from(batch.serialize()).toString()) as Request;
    expect(request.resourceSpans).toHaveLength(1);
    expect(request.resourceSpans[0]!.scopeSpans[0]!.spans).toHaveLength(6);
  });

  it('is full with a hundred traces, or half a megabyte', () => {
    const many = new TraceBatch('d');
    for (let count = 0; count < 99; count++) many.add([], 1);
    expect(many.isFull).toBe(false);
    many.add([], 1);
    expect(many.isFull).toBe(true);
    const large = new TraceBatch('d');
    large.add([], 512 * 1024);
    expect(large.isFull).toBe(true);
  });
});

describe(estimateBytes.name, () => {
  it('is near what the spans take as JSON', () => {
    const made = spans();
    const batch = new TraceBatch('d');
    batch.add(made, 0);
    const real = batch.serialize().byteLength;
    expect(estimateBytes(made)).toBeGreaterThan(real * 0.6);
    expect(estimateBytes(made)).toBeLessThan(real * 1.6);
  });
});
