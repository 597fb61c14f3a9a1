import { describe, expect, it } from '@jest/globals';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { JsonTexts, promptTexts } from './prompt-texts.js';

const HIDDEN = String.raw`"f\u0061lcon"`;
const MANY = 60_000;

const FILE = 'iVBORw0KGgo'.repeat(10);
const TEXT_FILE = `data:text/plain;base64,${Buffer.from('a falcon').toString('base64')}`;

function textsOf(...args: unknown[]): string[] {
  const messages = args.map((text) => ({ role: 'tool', content: text }));
  return promptTexts({ body: { value: { messages } } } as unknown as CanonicalRequest);
}

describe(promptTexts.name, () => {
  it('reveals text hidden in JSON escapes', () => {
    expect(textsOf(`{"a": [${HIDDEN}]}`)).toContain('falcon');
  });

  it.each([
    ['a text that looks like a file', 'data:image/png;base64,iVBOR falcon'],
    ['JSON after much white space', `${' '.repeat(200)}[${HIDDEN}]`],
    ['a part', [{ type: 'text', text: 'data:application/pdf;base64,falcon' }]],
    ['text in place of a file', [{ type: 'document_url', url: 'a falcon, in plain words' }]],
    ['the file of a text', [{ type: 'file', file: { file_data: TEXT_FILE } }]],
    ['the definition of a tool', [{ input_schema: { format: 'a falcon', id: '隼 falcon' } }]],
    ['a keyword in it', [{ input_schema: { 'of a falcon': true } }]],
    ['a list in it', [{ input_schema: { required: ['a', 'a falcon'] } }]],
    ['data in it', [{ input_schema: { properties: { a: { data: 'falcon' } } } }]],
  ])('includes %s', (_, content) => {
    expect(textsOf(content).some((text) => text.includes('falcon'))).toBe(true);
  });

  it.each([
    [{ type: 'image_url', image_url: { url: `data:image/png;base64,${FILE}` } }],
    [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: FILE } }],
    [{ type: 'file', file: { file_data: FILE } }],
  ])('excludes a file: %j', (part) => {
    expect(textsOf([part])).toEqual([]);
  });

  it.each([
    ['is deeply nested', `${'['.repeat(5_000)}${HIDDEN}${']'.repeat(5_000)}`],
    ['has too many parts', `[${'{},'.repeat(2 * MANY)}${HIDDEN}]`],
  ])('includes without parsing what %s', (_, json) => {
    expect(textsOf(json).some((text) => text.includes('"falcon"'))).toBe(true);
  });

  it('parses at most as much of all strings together as of a body', () => {
    const json = `[${'{},'.repeat(MANY)}${HIDDEN}]`;
    const [first, second] = textsOf(json, json).filter((text) => text.includes('falcon'));
    expect([first, second?.length]).toEqual(['falcon', json.length - 5]);
  });

  it.each(['A', ' '])('handles a file of many megabytes of %j', (letter) => {
    const data = `${letter.repeat(20_000_000)}, falcon`;
    expect(textsOf([{ type: 'input_audio', input_audio: { data } }])).toEqual([data]);
    expect(textsOf(data)).toEqual([data]);
  });

  it('handles more strings than a function has arguments', () => {
    const json = `[${'"a",'.repeat(99_000)}${HIDDEN}]`;
    expect(textsOf(json, json, json).length).toBeGreaterThan(99_000);
  });
});

describe(JsonTexts.name, () => {
  it.each([
    [String.raw`["\n\t\"\\ \/"]`, ['\n\t"\\ /']],
    ['["nothing to hide"]', []],
    [String.raw`[no \u0061 JSON`, []],
  ])('extracts from %s: %j', (json, texts) => {
    expect(new JsonTexts().of(json)).toEqual(texts);
  });
});
