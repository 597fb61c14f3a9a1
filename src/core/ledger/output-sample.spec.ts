import { describe, expect, it } from '@jest/globals';
import { OutputSample } from './output-sample.js';

const event = (content: string) =>
  Buffer.from(
    `data: ${JSON.stringify({ id: 'chatcmpl-1', choices: [{ index: 0, delta: { content } }] })}\n\n`,
  );

function sampleOf(pieces: readonly (string | Buffer)[]): OutputSample {
  const sample = new OutputSample();
  for (const piece of pieces) sample.add(piece);
  return sample;
}

describe(OutputSample.name, () => {
  it('keeps the first four of every eight pieces, as text', () => {
    const pieces = Array.from({ length: 16 }, (_, index) => `${index} `);
    const sample = sampleOf(pieces);
    expect(sample.texts()).toEqual(['0 1 2 3 ', '8 9 10 11 ']);
    expect(sample.share).toBe(0.5);
  });

  it.each([
    ['words', ['Hello', ' there', ',', ' all']],
    ['a repeated word', ['ha', 'ha', 'ha', 'ha']],
    ['words with shared beginnings and ends', ['abc', 'abcabc', 'ab', 'a']],
    ['multi-byte characters', ['größe', '日本', '日语', '🙂🙃']],
    ['empty texts', ['', 'x', '', 'y']],
    ['quotes and escapes', ['"', '\\"', '\n', '\\']],
  ])('restores relayed events from their difference to the first: %s', (_, words) => {
    expect(sampleOf(words.map(event)).texts()).toEqual([words.join('')]);
  });

  it('restores relayed events of other kinds and lengths than the first', () => {
    const usage = Buffer.from('data: {"choices":[],"usage":{"completion_tokens":3}}\n\n');
    const done = Buffer.from('data: [DONE]\n\n');
    const none = Buffer.alloc(0);
    expect(sampleOf([event('one'), usage, event(' two'), done]).texts()).toEqual(['one two']);
    expect(sampleOf([done, event('one'), none, event(' two')]).texts()).toEqual(['one two']);
    expect(sampleOf([none, event('one'), 'and text', event(' two')]).texts()).toEqual([
      'oneand text two',
    ]);
  });

  it('keeps a copy of a buffer that is reused afterwards', () => {
    const buffer = Buffer.from(event('kept'));
    const sample = sampleOf([event('first '), buffer]);
    buffer.fill(0);
    expect(sample.texts()).toEqual(['first kept']);
  });

  it('stays small for long answers', () => {
    const sample = new OutputSample();
    for (let index = 0; index < 10_000; index++) sample.add('x'.repeat(10_000));
    expect(sample.texts().length).toBeLessThanOrEqual(16);
    expect(sample.texts().join('').length).toBeLessThan(64 * 1024);
  });
});
