import { describe, expect, it } from '@jest/globals';
import { cutTail } from './cut-tail.js';
import { Seam } from './seam.js';

const TEXTS = [
  'The quick brown fox jumps over the lazy dog. Then it sleeps, and then it jumps again, as foxes do; very, very, very often. '.repeat(
    2,
  ),
  'Der Fuchs läuft über die Straße, weil er größer als der Hund ist – und wieder zurück, „ganz ohne Mühe“, sagt man.',
  'Лиса прыгает через ленивую собаку, а потом засыпает под деревом; утром она просыпается и снова прыгает через неё.',
  '敏捷的棕色狐狸跳过了懒狗。然后它在树下睡着了,第二天早上醒来,又一次跳过了那只懒狗。世界就是这样运转的。',
  'الثعلب البني السريع يقفز فوق الكلب الكسول، ثم ينام تحت الشجرة، وفي الصباح يستيقظ ويقفز مرة أخرى فوق الكلب.',
  'function add(a, b) {\n        return a + b;\n}\n\nfunction sub(a, b) {\n        return a - b;\n}\n\nadd(1, 1);\nadd(1, 1);\nadd(1, 1);\n',
  '| a | b |\n| --- | --- |\n| 0 | 0 |\n| 0 | 0 |\n| 0 | 0 |\n\n----------------------------------------------------------------\nend\n',
  'Hi 👋🏽! Family: 👨‍👩‍👧‍👦, flags: 🇩🇪🇫🇷🇯🇵🇧🇷, e\u0301 and ñ, hearts: ❤️❤️❤️❤️❤️❤️❤️❤️❤️❤️❤️❤️❤️❤️ and more 🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉 done.',
  'ha'.repeat(60),
];

/** The same numbers at each run. */
function* randoms(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    yield (state >>> 8) / 2 ** 24;
  }
}

/** What a reader has in the end; undefined: it does not go on with the text. */
function join(text: string, answer: string, next: () => number): string | undefined {
  const { tail } = cutTail(text);
  const seam = new Seam(text, tail);
  let joined = text;
  for (let at = 0; at < answer.length;) {
    const length = 1 + Math.floor(next() * 12);
    joined += seam.push(answer.slice(at, at + length));
    at += length;
  }
  return seam.isJoined ? joined : undefined;
}

describe(cutTail, () => {
  it('leaves an end that stands nowhere before, behind a visible character', () => {
    for (const whole of TEXTS) {
      for (let length = 1; length <= whole.length; length++) {
        const text = whole.slice(0, length);
        const { said, tail } = cutTail(text);
        expect(said + tail).toBe(text);
        expect(said).toBe(said.trimEnd());
        if (said === '') continue;
        expect(text.indexOf(tail.trimStart())).toBe(length - tail.trimStart().length);
        expect(tail.length).toBeGreaterThanOrEqual(16);
        // No half of a character, and no accent without its letter.
        expect(tail).not.toMatch(/^(?:[\p{M}\udc00-\udfff]|\u200d)/u);
      }
    }
  });

  it('cuts between words', () => {
    expect(cutTail('The quick brown fox jumps over the la')).toEqual({
      said: 'The quick brown fox',
      tail: ' jumps over the la',
    });
  });

  it('takes a short text whole', () => {
    expect(cutTail('The quick')).toEqual({ said: '', tail: 'The quick' });
  });
});

describe(Seam, () => {
  const next = (() => {
    const numbers = randoms(22);
    return () => numbers.next().value;
  })();
  const cuts = Array.from({ length: 60 }, () => next());

  it.each(TEXTS)('joins %j wherever it was cut', (whole) => {
    for (const cut of cuts) {
      const text = whole.slice(0, 1 + Math.floor(cut * (whole.length - 1)));
      const { said } = cutTail(text);
      const faithful = whole.slice(said.length);
      expect(join(text, faithful, next)).toBe(whole);
      // … without the white space before it, as models do.
      expect(join(text, faithful.trimStart(), next)).toBe(whole);
      // … from the very beginning, or somewhat earlier.
      expect(join(text, whole, next)).toBe(whole);
      const earlier = Math.floor(next() * said.length);
      expect(join(text, whole.slice(earlier), next)).toBe(whole);
    }
  });

  // What repeats itself at once can't be told from what is said again.
  it.each(TEXTS.filter((text) => !/(.{16,})\1|(..)\2{9}/su.test(text)))(
    'takes nothing else for what goes on with %j',
    (whole) => {
      for (const cut of cuts) {
        const text = whole.slice(0, 1 + Math.floor(cut * (whole.length - 1)));
        const { said, tail } = cutTail(text);
        const others = [
          'Certainly! Here is the rest of it.',
          whole.slice(said.length + tail.length),
          whole.slice(said.length + 1 + tail.length - tail.trimStart().length),
          `${tail.trim().slice(0, -1)}#${whole.slice(text.length)}`,
          tail.slice(0, -1),
          '',
        ];
        for (const other of others) expect(join(text, other, next)).toBeUndefined();
      }
    },
  );
});
