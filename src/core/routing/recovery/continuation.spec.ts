import { describe, expect, it } from '@jest/globals';
import { BROKEN_TEXTS, DISTINCT_TEXTS } from '../../../../test/support/broken-texts.js';
import { SeededRandom } from '../../../../test/support/seeded-random.js';
import { cutTail } from './cut-tail.js';
import { Continuation } from './continuation.js';

/** Returns the reader's final text; undefined when the answer does not continue it. */
function join(text: string, answer: string, next: () => number): string | undefined {
  const { tail } = cutTail(text);
  const continuation = new Continuation(text, tail);
  let joined = text;
  for (let at = 0; at < answer.length;) {
    const length = 1 + Math.floor(next() * 12);
    joined += continuation.push(answer.slice(at, at + length));
    at += length;
  }
  return continuation.isJoined ? joined : undefined;
}

describe(cutTail, () => {
  it('cuts a unique tail after a visible character', () => {
    for (const whole of BROKEN_TEXTS) {
      for (let length = 1; length <= whole.length; length++) {
        const text = whole.slice(0, length);
        const { said, tail } = cutTail(text);
        expect(said + tail).toBe(text);
        expect(said).toBe(said.trimEnd());
        if (said === '') continue;
        expect(text.indexOf(tail.trimStart())).toBe(length - tail.trimStart().length);
        expect(tail.length).toBeGreaterThanOrEqual(16);
        // Never splits a surrogate pair or separates an accent from its letter.
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

  it('takes a short text as a whole', () => {
    expect(cutTail('The quick')).toEqual({ said: '', tail: 'The quick' });
  });
});

describe('a repetitive answer', () => {
  it('is cut in linear time', () => {
    const same = 'a'.repeat(400_000);
    const startedMs = performance.now();
    expect(cutTail(`${same}b${same}`).tail).toHaveLength(2 ** 19);
    // A search for each tail would take longer.
    expect(performance.now() - startedMs).toBeLessThan(3_000);
  });

  it('is not compared from every position to its end', () => {
    const text = `${'a'.repeat(100_000)} and that was the end of it`;
    const continuation = new Continuation(text, cutTail(text).tail);
    const startedMs = performance.now();
    expect(continuation.push('a'.repeat(100_000))).toBe('');
    // That would take quadratic time.
    expect(performance.now() - startedMs).toBeLessThan(3_000);
    expect(continuation.isUnjoined).toBe(true);
  });

  it('is not continued by endless blanks', () => {
    const continuation = new Continuation('It was a dark night', ' dark night');
    for (let count = 0; count < 10_000; count++) continuation.push(' ');
    expect(continuation.isUnjoined).toBe(true);
  });
});

describe(Continuation, () => {
  const random = new SeededRandom(22);
  const next = () => random.next();
  const cuts = Array.from({ length: 60 }, () => next());

  it.each(BROKEN_TEXTS)('joins %j wherever it was cut', (whole) => {
    for (const cut of cuts) {
      const text = whole.slice(0, 1 + Math.floor(cut * (whole.length - 1)));
      const { said } = cutTail(text);
      const faithful = whole.slice(said.length);
      expect(join(text, faithful, next)).toBe(whole);
      // … without the leading white space, as models do.
      expect(join(text, faithful.trimStart(), next)).toBe(whole);
      // … from the very beginning, or from an earlier position.
      expect(join(text, whole, next)).toBe(whole);
      const earlier = Math.floor(next() * said.length);
      expect(join(text, whole.slice(earlier), next)).toBe(whole);
    }
  });

  // An immediate repetition is indistinguishable from repeated output.
  it.each(DISTINCT_TEXTS)('accepts no other continuation of %j', (whole) => {
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
  });

  it.each([
    ['a wide space', 'said in  a\u00a0few words', true],
    ['a broken line', 'said in a\nfew words', true],
    ['no space', 'said ina few words', false],
    ['none at all', 'saidinafewwords', false],
  ])('judges %s', (_name, again, isSame) => {
    const text = 'What there is to say is said in a few words';
    expect(join(text, `${again}, and more`, next)).toBe(isSame ? `${text}, and more` : undefined);
  });

  it.each([
    ['if (a) {\n  return b + c +', ' d;', true],
    ['if (a) {\n\n  return b + c +', ' d;', true],
    ['if (a) {\n    return b + c +', ' d;', false],
    ['if (a) { return b + c +', ' d;', true],
  ])('respects indentation, in %j', (again, rest, isSame) => {
    const text = 'if (a) {\n  return b + c +';
    expect(join(text, again + rest, next)).toBe(isSame ? text + rest : undefined);
  });

  it('adds white space at the join once', () => {
    const text = 'The first line of it ends here\n';
    expect(join(text, `${text}\n\nNext`, next)).toBe(`${text}\n\nNext`);
    expect(join(text, `${text.trimEnd()} Next`, next)).toBe(`${text}Next`);
    expect(join(text, text, next)).toBe(text);
    const indented = 'The first line of it:\n    ';
    expect(join(indented, `${indented}    next`, next)).toBe(`${indented}    next`);
    expect(join(indented, 'The first line of it:\n  next', next)).toBeUndefined();
  });

  it('follows a long repetition in pieces without rereading it', () => {
    const text = Array.from({ length: 20_000 }, (_, index) => `word ${index} `).join('');
    const continuation = new Continuation(text, cutTail(text).tail);
    let fresh = '';
    for (let at = 0; at < text.length; at += 3) fresh += continuation.push(text.slice(at, at + 3));
    fresh += continuation.push('and so on');
    expect(fresh.trim()).toBe('and so on');
  });
});
