import { describe, expect, it } from '@jest/globals';
import { InvalidRequestError } from '../common/errors/gateway-errors.js';
import { MAX_TRACE_BYTES, readTraceFields } from './trace-fields.js';

describe(readTraceFields.name, () => {
  it('names the trace and passes on all that stands in the object', () => {
    const fields = readTraceFields({
      trace_name: 'step',
      priority: 'high',
      session_id: 's',
      user_id: 'u',
      count: 2,
      huge: 1e300,
      nested: { a: [1] },
      nothing: null,
      broken: '\ud800',
    });
    expect(fields).toEqual({
      name: 'step',
      attributes: {
        'gateway.trace.trace_name': 'step',
        'gateway.trace.priority': 'high',
        'session.id': 's',
        'user.id': 'u',
        'gateway.trace.count': 2,
        'gateway.trace.huge': '1e+300',
        'gateway.trace.nested': '{"a":[1]}',
        'gateway.trace.broken': '\ufffd',
      },
    });
  });

  it.each([undefined, null, {}])('takes %s for no name and no attributes', (trace) => {
    expect(readTraceFields(trace)).toEqual({ name: undefined, attributes: {} });
  });

  it('is not fooled by names that every object has', () => {
    const trace: unknown = JSON.parse('{"constructor":"a","__proto__":"b"}');
    expect(Object.entries(readTraceFields(trace).attributes)).toEqual([
      ['gateway.trace.constructor', 'a'],
      ['gateway.trace.__proto__', 'b'],
    ]);
  });

  it('takes 16 KB and not a byte more', () => {
    const frame = JSON.stringify({ a: '' }).length;
    const fits = { a: 'x'.repeat(MAX_TRACE_BYTES - frame) };
    expect(() => readTraceFields(fits)).not.toThrow();
    expect(() => readTraceFields({ a: `${fits.a}x` })).toThrow(InvalidRequestError);
    expect(() => readTraceFields({ a: 'é'.repeat(MAX_TRACE_BYTES / 2) })).toThrow(
      InvalidRequestError,
    );
  });
});
