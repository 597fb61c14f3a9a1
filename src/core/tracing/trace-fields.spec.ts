import { describe, expect, it } from '@jest/globals';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { checkTraceFields, MAX_TRACE_BYTES, readTraceFields } from './trace-fields.js';

describe(readTraceFields.name, () => {
  it('names the trace and passes on every member', () => {
    const fields = readTraceFields(
      {
        trace_name: 'step',
        priority: 'high',
        session_id: 's',
        user_id: 'u',
        count: 2,
        huge: 1e300,
        nested: { a: [1] },
        nothing: null,
        broken: '\ud800',
      },
      {},
    );
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

  it.each([undefined, null, {}])('treats %s as no name and no attributes', (trace) => {
    expect(readTraceFields(trace, {})).toEqual({ name: undefined, attributes: {} });
  });

  it('converts the conventions’ attributes to text', () => {
    expect(readTraceFields({ session_id: 7, user_id: { a: 1 }, n: 7 }, {}).attributes).toEqual({
      'session.id': '7',
      'user.id': '{"a":1}',
      'gateway.trace.n': 7,
    });
  });

  it('adds the request’s tags and end user, unless the trace names another', () => {
    const request = { endUser: 'ann\ud800', tags: { team: 'a', 'cost.center': '7' } };
    const tags = { 'gateway.tag.team': 'a', 'gateway.tag.cost.center': '7' };
    expect(readTraceFields(null, request)).toEqual({
      name: undefined,
      attributes: { 'user.id': 'ann\ufffd', ...tags },
    });
    expect(readTraceFields({ user_id: 'bob' }, request).attributes).toEqual({
      'user.id': 'bob',
      ...tags,
    });
  });

  it('handles names that every object has', () => {
    const trace = JSON.parse('{"constructor":"a","__proto__":"b"}') as Record<string, unknown>;
    expect(Object.entries(readTraceFields(trace, {}).attributes)).toEqual([
      ['gateway.trace.constructor', 'a'],
      ['gateway.trace.__proto__', 'b'],
    ]);
  });
});

describe(checkTraceFields.name, () => {
  it('accepts 16 KB and not a byte more', () => {
    const frame = JSON.stringify({ a: '' }).length;
    const fits = { a: 'x'.repeat(MAX_TRACE_BYTES - frame) };
    expect(() => checkTraceFields(fits)).not.toThrow();
    expect(() => checkTraceFields({ a: `${fits.a}x` })).toThrow(InvalidRequestError);
    expect(() => checkTraceFields({ a: 'é'.repeat(MAX_TRACE_BYTES / 2) })).toThrow(
      InvalidRequestError,
    );
  });

  it('accepts at most 128 members', () => {
    const members = Array.from({ length: 129 }, (_, index) => [`m${index}`, 1]);
    const fits: unknown = Object.fromEntries(members.slice(1));
    const many: unknown = Object.fromEntries(members);
    expect(() => checkTraceFields(fits)).not.toThrow();
    expect(() => checkTraceFields(many)).toThrow(expect.objectContaining({ param: 'trace' }));
  });
});
