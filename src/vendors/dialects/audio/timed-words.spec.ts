import { describe, expect, it } from '@jest/globals';
import { segmentsOfWords, type TimedWord } from './timed-words.js';

/** Returns one word every half second, with a blank before all but the first. */
const words = (text: string, speakerOf?: (index: number) => string): TimedWord[] =>
  text.split(' ').map((word, index) => ({
    text: index === 0 ? word : ` ${word}`,
    start: index / 2,
    end: index / 2 + 0.4,
    ...(speakerOf && { speaker: speakerOf(index) }),
  }));
const textsOf = (list: readonly TimedWord[]) => segmentsOfWords(list).map(({ text }) => text);

describe(segmentsOfWords.name, () => {
  it.each([
    ['It rains. We stay in!', ['It rains.', 'We stay in!']],
    ['He said “no.” She left', ['He said “no.”', 'She left']],
    ['बारिश है। हम घर पर', ['बारिश है।', 'हम घर पर']],
    ['At 3.5 degrees', ['At 3.5 degrees']],
  ])('splits %s at ends of sentences', (text, expected) => {
    expect(textsOf(words(text))).toEqual(expected);
  });

  it('keeps the first start and the last end', () => {
    expect(segmentsOfWords(words('one two three'))).toEqual([
      { start: 0, end: 1.4, text: 'one two three' },
    ]);
  });

  it('splits at pauses and changes of speaker', () => {
    const [one, two, three] = words('one two three');
    expect(textsOf([one!, two!, { ...three!, start: 2.5, end: 3 }])).toEqual(['one two', 'three']);
    expect(segmentsOfWords(words('a b c', (index) => (index < 2 ? 'A' : 'B')))).toEqual([
      { start: 0, end: 0.9, text: 'a b', speaker: 'A' },
      { start: 1, end: 1.4, text: 'c', speaker: 'B' },
    ]);
  });

  it('never exceeds two lines', () => {
    const texts = textsOf(words(Array.from({ length: 60 }, () => 'again').join(' ')));
    expect(texts.join(' ')).toBe(Array.from({ length: 60 }, () => 'again').join(' '));
    for (const text of texts) expect(text.length).toBeLessThanOrEqual(84);
    expect(textsOf(words('x'.repeat(200)))).toEqual(['x'.repeat(200)]);
  });

  it('returns nothing for silence', () => {
    expect(segmentsOfWords([])).toEqual([]);
  });
});
