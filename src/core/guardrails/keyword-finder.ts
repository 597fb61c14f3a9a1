import type { Finder, Span } from './finder.js';

/**
 * A run of characters that make up a word. Scripts that put no space between words have no such
 * runs, so there a keyword is found anywhere.
 */
const WORD_CHARACTER =
  '(?:(?![\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}])[\\p{L}\\p{M}\\p{N}_])';
const WORD = new RegExp(`${WORD_CHARACTER}+`, 'gu');
const LEADING_WORD = new RegExp(`^${WORD_CHARACTER}+`, 'u');
const ENDS_IN_WORD = new RegExp(`${WORD_CHARACTER}$`, 'u');
const STARTS_WITH_WORD = new RegExp(`^${WORD_CHARACTER}`, 'u');
const ASCII_WORD_CHARACTER = /\w/;
const END_OF_ASCII = 0x80;

/** So few phrases are searched for one by one: that is many times faster than telling words apart. */
const MAX_SEARCHED = 16;

interface Phrase {
  readonly text: string;
  /** Whether it has to begin, or end, where a word does. */
  readonly startsWithWord: boolean;
  readonly endsInWord: boolean;
}

/**
 * Finds whole words and phrases, whatever their case. Where there are many, words are looked up
 * rather than searched for, so a thousand of them cost as much as twenty.
 */
export class KeywordFinder implements Finder {
  private readonly searched: Phrase[] = [];
  /** Phrases by the word they begin with. */
  private readonly byFirstWord = new Map<string, Phrase[]>();

  constructor(words: readonly string[]) {
    for (const word of words) {
      const text = word.trim().toLowerCase();
      const [first] = LEADING_WORD.exec(text) ?? [];
      const phrase = {
        text,
        startsWithWord: first !== undefined,
        endsInWord: ENDS_IN_WORD.test(text),
      };
      if (first === undefined || words.length <= MAX_SEARCHED) this.searched.push(phrase);
      else this.byFirstWord.set(first, [...(this.byFirstWord.get(first) ?? []), phrase]);
    }
  }

  find(text: string, from: number): Span | undefined {
    const lower = toLowerInPlace(text);
    let found = this.findByWord(lower, from);
    for (const phrase of this.searched) {
      const start = search(lower, phrase, from, found?.start ?? lower.length);
      if (start !== undefined) found = { start, end: start + phrase.text.length };
    }
    return found;
  }

  private findByWord(lower: string, from: number): Span | undefined {
    if (this.byFirstWord.size === 0) return undefined;
    // A word that begins before `from` must not be taken for one that begins at it.
    WORD.lastIndex = Math.max(0, from - 1);
    for (let match = WORD.exec(lower); match; match = WORD.exec(lower)) {
      const start = match.index;
      if (start < from) continue;
      const phrases = this.byFirstWord.get(match[0]) ?? [];
      const phrase = phrases.find((each) => standsAt(lower, each, start));
      if (phrase !== undefined) return { start, end: start + phrase.text.length };
    }
    return undefined;
  }
}

/** Where a phrase stands first, from `from` on and before `end`. */
function search(lower: string, phrase: Phrase, from: number, end: number): number | undefined {
  const { text } = phrase;
  for (let at = lower.indexOf(text, from); at !== -1; at = lower.indexOf(text, at + 1)) {
    if (at >= end) return undefined;
    if (standsAt(lower, phrase, at)) return at;
  }
  return undefined;
}

/** Whether a phrase stands at a place, and is no part of longer words there. */
function standsAt(lower: string, phrase: Phrase, start: number): boolean {
  const end = start + phrase.text.length;
  return (
    lower.startsWith(phrase.text, start) &&
    !(phrase.startsWithWord && isWordBefore(lower, start)) &&
    !(phrase.endsInWord && isWordAfter(lower, end))
  );
}

function isWordBefore(text: string, index: number): boolean {
  if (index === 0) return false;
  if (text.charCodeAt(index - 1) < END_OF_ASCII) return ASCII_WORD_CHARACTER.test(text[index - 1]!);
  return ENDS_IN_WORD.test(text.slice(Math.max(0, index - 2), index));
}

function isWordAfter(text: string, index: number): boolean {
  if (index >= text.length) return false;
  if (text.charCodeAt(index) < END_OF_ASCII) return ASCII_WORD_CHARACTER.test(text[index]!);
  return STARTS_WITH_WORD.test(text.slice(index, index + 2));
}

/** Lower case without a change of length, so that places in it are places in the text. */
function toLowerInPlace(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from(text, (character) => {
    const one = character.toLowerCase();
    return one.length === character.length ? one : character;
  }).join('');
}
