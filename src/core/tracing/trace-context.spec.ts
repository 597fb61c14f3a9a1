import { describe, expect, it } from '@jest/globals';
import { readTraceContext } from './trace-context.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe(readTraceContext.name, () => {
  it.each([
    `00-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-00`,
    `cc-${TRACE}-${SPAN}-01-what-comes-later`,
  ])('continues %s', (traceparent) => {
    const context = readTraceContext({ traceparent, tracestate: 'a=1,b=2' });
    expect(context).toMatchObject({ traceId: TRACE, parentSpanId: SPAN });
    expect(context.spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(context.traceState).toBe('a=1,b=2');
  });

  it.each([
    undefined,
    '',
    'text',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
  ])('starts a new trace for the header %s', (traceparent) => {
    const context = readTraceContext({ traceparent, tracestate: 'a=1' });
    expect(context.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(context.traceId).not.toBe(TRACE);
    expect([context.parentSpanId, context.traceState]).toEqual([undefined, undefined]);
  });

  it('drops a trace state longer than must be propagated', () => {
    const headers = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: `a=${'x'.repeat(511)}` };
    expect(readTraceContext(headers)).toMatchObject({ traceId: TRACE, traceState: undefined });
  });
});
