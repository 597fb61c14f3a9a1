import { describe, expect, it } from '@jest/globals';
import { parseJsonBody, repeatsMembers } from './json-body.js';
describe(repeatsMembers.name, () => {
  it.each([
    '{"a": 1, "a": 2}',
    '{"a": [{"b": "x", "b": "x"}]}',
    '{"a": {"b": {}, "c": 1, "b": null}}',
    '{"a": {"\\u0062": 1, "b": 2}}',
    '{"__proto__": 1, "__proto__": {}}',
  ])('finds a name twice in %s', (json) => {
    expect(repeatsMembers(parseJsonBody(Buffer.from(json)))).toBe(true);
  });

  it.each([
    '{}',
    '{"a": {"b": 1}, "b": {"a": 1}}',
    '{"a": [{"b": 1}, {"b": 1}]}',
    '{"a": "b: c: d, \\"e\\": {:", "f:": ":"}',
    '{"__proto__": {"constructor": 1}, "": null, "a": [[], [{}], "\\\\"]}',
    '{"a": "é:", "b": 1e5}',
  ])('finds none in %s', (json) => {
    expect(repeatsMembers(parseJsonBody(Buffer.from(json)))).toBe(false);
  });

  it('takes no notice of what has been taken out of a body', () => {
    const bytes = Buffer.from('{"a":1}');
    expect(repeatsMembers({ bytes, value: { a: 1, b: undefined } })).toBe(false);
  });
});
