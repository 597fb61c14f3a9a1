import { describe, expect, it } from '@jest/globals';
import { PromptMeter, TOKENS_PER_IMAGE, TOKENS_PER_MESSAGE } from './prompt-size.js';

function sizeOf(...texts: string[]) {
  const meter = new PromptMeter();
  for (const text of texts) meter.addText(text);
  return meter.size();
}

describe(PromptMeter.name, () => {
  it.each([
    ['nothing', '', 0, 0],
    ['one letter', 'a', 1, 1],
    ['three letters', 'abc', 1, 3],
    ['four letters', 'abcd', 2, 4],
    ['3,000 letters', 'a'.repeat(3_000), 1_000, 3_000],
    ['a NUL', '\u0000', 1, 1],
    ['the last ASCII character', '\u007f', 1, 1],
    ['the first one beyond', '\u0080', 1, 1],
    ['CJK', '日本語', 3, 3],
    ['Cyrillic', 'привет', 6, 6],
    ['emoji', '🙂🙂', 2, 2],
    ['a family joined of seven code points', '👩‍👩‍👧‍👦', 7, 7],
    ['a mixture', 'abc日🙂', 1 + 2, 5],
    ['lone high surrogates', '\ud83d\ud83d', 2, 2],
    ['lone low surrogates', '\ude42\ude42\ude42', 3, 3],
    ['halves in the wrong order', '\ude42\ud83d', 2, 2],
  ])('counts %s', (_, text, tokens, characters) => {
    expect(sizeOf(text)).toEqual({ tokens, characters, images: 0 });
  });

  it('never counts less than a third of the code points', () => {
    for (const text of ['x'.repeat(999), '日'.repeat(99), 'é'.repeat(50) + 'e'.repeat(50)]) {
      expect(sizeOf(text).tokens).toBeGreaterThanOrEqual([...text].length / 3);
    }
  });

  it('rounds once over all ASCII text', () => {
    expect(sizeOf('a', 'a', 'a').tokens).toBe(1);
  });

  it('adds messages, images, other parts and raw bytes', () => {
    const meter = new PromptMeter();
    meter.addMessage();
    meter.addMessage();
    meter.addImage();
    meter.addTokens(100);
    meter.addBytes(300);
    expect(meter.size()).toEqual({
      tokens: 2 * TOKENS_PER_MESSAGE + TOKENS_PER_IMAGE + 100 + 100,
      characters: 300,
      images: 1,
    });
  });
});
