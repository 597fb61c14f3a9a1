import { describe, expect, it } from '@jest/globals';
import { describeChange, diffOf } from './config-diff.js';
import { EMPTY_DOCUMENT } from './config-document.js';

const row = (id: string, prompt: string) => ({ id, pricing: { prompt, completion: '1' } });
const key = { id: 'k', preview: 'sk-1...2345' };

describe(diffOf.name, () => {
  it('identifies rows by id and fields by path, in any order', () => {
    const before = {
      models: [row('a/one', '1'), row('a/two', '1')],
      providers: [{ id: 'p', name: 'P', base_url: 'http://one' }],
      settings: { LOG_LEVEL: 'info' },
    };
    const after = {
      models: [row('a/two', '2'), row('a/one', '1'), row('a/three', '3')],
      providers: [{ id: 'p', name: 'P', base_url: 'http://one', api_key: key }],
      settings: {},
    };
    expect(diffOf(before, after).map(describeChange)).toEqual([
      '+ models/a/three = {"id":"a/three","pricing":{"prompt":"3","completion":"1"}}',
      '~ models/a/two/pricing/prompt: "1" -> "2"',
      '+ providers/p/api_key = {"id":"k","preview":"sk-1...2345"}',
      '- settings/LOG_LEVEL = "info"',
    ]);
  });

  it('ignores the order of fields', () => {
    const one = { ...EMPTY_DOCUMENT, models: [{ id: 'a/b', name: 'x' }] };
    const other = { ...EMPTY_DOCUMENT, models: [{ name: 'x', id: 'a/b' }] };
    expect(diffOf(one, other)).toEqual([]);
  });
});
