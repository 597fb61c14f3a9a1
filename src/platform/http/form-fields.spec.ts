import { describe, expect, it } from '@jest/globals';
import { FormFields, type FormShape } from './form-fields.js';

const SHAPE: FormShape = {
  lists: new Set(['models', 'timestamp_granularities']),
  numbers: new Set(['temperature']),
  flags: new Set(['stream']),
  objects: new Set(['provider', 'trace']),
};

function read(...fields: [string, string][]): Record<string, unknown> {
  const form = new FormFields(SHAPE);
  for (const [name, value] of fields) form.add(name, value);
  return form.read();
}

describe('FormFields', () => {
  it('reads lists, objects, numbers and flags as a JSON body would have them', () => {
    expect(
      read(
        ['model', 'a/b'],
        ['models[]', 'c/d'],
        ['models', 'e/f'],
        ['timestamp_granularities[]', 'word'],
        ['temperature', '0.25'],
        ['stream', 'false'],
        ['provider[only][]', 'a'],
        ['provider[only][]', 'b'],
        ['provider[allow_fallbacks]', 'false'],
        ['trace', '{"trace_name":"t"}'],
        ['custom', '7'],
      ),
    ).toEqual({
      model: 'a/b',
      models: ['c/d', 'e/f'],
      timestamp_granularities: ['word'],
      temperature: 0.25,
      stream: false,
      provider: { only: ['a', 'b'], allow_fallbacks: false },
      trace: { trace_name: 't' },
      custom: '7',
    });
  });

  it('treats an empty value as missing, and leaves invalid numbers and flags to the validation', () => {
    expect(read(['language', ''], ['temperature', 'hot'], ['stream', 'maybe'])).toEqual({
      temperature: 'hot',
      stream: 'maybe',
    });
  });

  it.each([
    ['__proto__'],
    ['a[__proto__]'],
    ['constructor[prototype]'],
    ['a[b][c][d][e]'],
    ['a['],
    [''],
    ['x'.repeat(300)],
  ])('refuses the name %j', (name) => {
    expect(() => read([name, '1'])).toThrow(expect.objectContaining({ param: 'body' }));
    expect(({} as Record<string, unknown>).b).toBeUndefined();
  });

  it.each<[[string, string][], string]>([
    [
      [
        ['model', 'a/b'],
        ['model', 'c/d'],
      ],
      'model',
    ],
    [
      [
        ['provider', 'a'],
        ['provider[only][]', 'b'],
      ],
      'body',
    ],
    [[['provider', '{']], 'provider'],
  ])('refuses %j', (fields, param) => {
    expect(() => read(...fields)).toThrow(expect.objectContaining({ param }));
  });
});
