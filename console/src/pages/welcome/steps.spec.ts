import { describe, expect, it } from '@jest/globals';
import { doneSteps, exampleModel, LANGUAGES, ownRequests, threeLines, type Known } from './steps';

const KEY = { id: 'k', name: 'mine', type: 'routing', is_active: true };
const OWN = { ...KEY, id: 'console', name: 'Playground of Ada' };
const NOTHING: Known = { logs: [], keys: [], models: [{ id: 'sandbox/echo', kind: 'chat' }] };

describe(doneSteps.name, () => {
  const done = (known: Partial<Known>) => [...doneSteps({ ...NOTHING, ...known })];

  it('starts with no steps done, also while the API loads', () => {
    expect(done({})).toEqual([]);
    expect(done({ logs: undefined, keys: undefined, models: undefined })).toEqual([]);
  });

  it("distinguishes console calls from the tenant's own", () => {
    const tried = { status: 'success', api_key_id: 'console' };
    expect(done({ logs: [tried], keys: [OWN] })).toEqual(['try']);
    expect(done({ logs: [{ ...tried, status: 'error' }], keys: [OWN] })).toEqual([]);
    const mine = { status: 'error', api_key_id: 'k' };
    expect(done({ logs: [mine], keys: [OWN, KEY] })).toEqual(['key', 'code', 'arrival']);
    expect(ownRequests({ logs: [tried, mine], keys: [OWN, KEY] })).toEqual([mine]);
    // Without the keys, the origin of the call is unknown.
    expect(ownRequests({ logs: [tried], keys: undefined })).toEqual([]);
  });

  it('counts active routing keys and vendor models', () => {
    expect(done({ keys: [{ ...KEY, type: 'management' }] })).toEqual([]);
    expect(done({ keys: [{ ...KEY, is_active: false }] })).toEqual([]);
    expect(done({ keys: [KEY] })).toEqual(['key']);
    expect(done({ models: [{ id: 'openai/a' }] })).toEqual(['vendor']);
  });
});

describe(threeLines.name, () => {
  it.each(LANGUAGES)('includes key, URL and model in %s', (language) => {
    const lines = threeLines(language, { origin: 'http://g.test', key: 'sk-1', model: 'a/b' });
    for (const part of ['http://g.test/v1', 'sk-1', 'a/b']) expect(lines).toContain(part);
    expect(lines.split('\n').filter((line) => !/^(#|\/\/)/.test(line))).toHaveLength(3);
  });
});

describe(exampleModel.name, () => {
  it('prefers a small vendor model and falls back to the sandbox', () => {
    expect(exampleModel(undefined)).toBe('sandbox/echo');
    expect(exampleModel(NOTHING.models)).toBe('sandbox/echo');
    const big = { id: 'v/big', kind: 'chat' };
    expect(exampleModel([big])).toBe('v/big');
    expect(exampleModel([big, { id: 'v/mini', kind: 'chat' }])).toBe('v/mini');
    expect(exampleModel([{ id: 'v/embed', kind: 'embedding' }])).toBe('sandbox/echo');
  });
});
