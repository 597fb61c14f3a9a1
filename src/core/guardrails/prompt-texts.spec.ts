import { describe, expect, it } from '@jest/globals';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { JsonTexts, promptTexts } from './prompt-texts.js';

const HIDDEN = String.raw`"f\u0061lcon"`;
const MANY = 60_000;

function textsOf(...args: string[]): string[] {
  const messages = args.map((text) => ({ role: 'tool', content: text }));
  return promptTexts({ body: { value: { messages } } } as unknown as CanonicalRequest);
}

describe(promptTexts.name, () => {
  it('shows what the escapes of JSON in a string hide', () => {
    expect(textsOf(`{"a": [${HIDDEN}]}`)).toContain('falcon');
  });

  it.each([
    ['nests deep', `${'['.repeat(5_000)}${HIDDEN}${']'.repeat(5_000)}`],
    ['is made of too much', `[${'{},'.repeat(2 * MANY)}${HIDDEN}]`],
  ])('shows it without parsing what %s', (_, json) => {
    expect(textsOf(json).some((text) => text.includes('"falcon"'))).toBe(true);
  });

  it('parses no more of all strings together than of a body', () => {
    const json = `[${'{},'.repeat(MANY)}${HIDDEN}]`;
    const [first, second] = textsOf(json, json).filter((text) => text.includes('falcon'));
    expect([first, second?.length]).toEqual(['falcon', json.length - 5]);
  });

  it('takes more strings than a function takes arguments', () => {
    const json = `[${'"a",'.repeat(99_000)}${HIDDEN}]`;
    expect(textsOf(json, json, json).length).toBeGreaterThan(99_000);
  });
});

describe(JsonTexts.name, () => {
  it.each([
    [String.raw`["\n\t\"\\ \/"]`, ['\n\t"\\ /']],
    ['["nothing to hide"]', []],
    [String.raw`[no \u0061 JSON`, []],
  ])('finds in %s %j', (json, texts) => {
    expect(new JsonTexts().of(json)).toEqual(texts);
  });
});
