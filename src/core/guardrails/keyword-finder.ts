import type { Finder, Span } from './finder.js';

/**
 * A run of word characters. Scripts without spaces between words have no such runs, so a keyword
 * matches anywhere there.
 */
const WORD_CHARACTER =
  '(?:(?![\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}])[\\p{L}\\p{M}\\p{N}_])';
const WORD = new RegExp(`${WORD_CHARACTER}+`, 'gu');
const LEADING_WORD = new RegExp(`^${WORD_CHARACTER}+`, 'u');
const ENDS_IN_WORD = new RegExp(`${WORD_CHARACTER}$`, 'u');
const STARTS_WITH_WORD = new RegExp(`^${WORD_CHARACTER}`, 'u');
const ASCII_WORD_CHARACTER = /\w/;
const END_OF_ASCII = 0x80;

/** Up to this many phrases are searched one by one, which is many times faster than tokenizing. */
const MAX_SEARCHED = 16;

interface Phrase {
  readonly text: string;
  /** True when a match must begin, or end, at a word boundary. */
  readonly startsWithWord: boolean;
  readonly endsInWord: boolean;
}

/**
 * Finds whole words and phrases, ignoring case. Looks up many phrases instead of searching for
 * each, so that a thousand cost as much as twenty.
 */
export class KeywordFinder implements Finder {
  private readonly searched: Phrase[] = [];
  /** Phrases by their first word. */
  private readonly byWord = new Map<string, PhraseGroup>();
  /** Phrases by their first character, if it is not part of a word. */
  private readonly bySymbol = new Map<string, PhraseGroup>();

  constructor(words: readonly string[]) {
    const groups = new Map<string, Phrase[]>();
    for (const word of words) {
      const text = word.trim().toLowerCase();
      const [first] = LEADING_WORD.exec(text) ?? [];
      const startsWithWord = first !== undefined;
      const phrase = { text, startsWithWord, endsInWord: ENDS_IN_WORD.test(text) };
      if (words.length <= MAX_SEARCHED) {
        this.searched.push(phrase);
        continue;
      }
      const key = first ?? text.charAt(0);
      const group = groups.get(key);
      if (group) group.push(phrase);
      else groups.set(key, [phrase]);
    }
    for (const [key, phrases] of groups) {
      const place = phrases[0]!.startsWithWord ? this.byWord : this.bySymbol;
      place.set(key, new PhraseGroup(phrases));
    }
  }

  find(text: string, from: number): Span | undefined {
    const lower = toLowerInPlace(text);
    let found = this.findByWord(lower, from);
    found = this.findBySymbol(lower, from, found?.start ?? lower.length) ?? found;
    for (const phrase of this.searched) {
      const start = search(lower, phrase, from, found?.start ?? lower.length);
      if (start !== undefined) found = { start, end: start + phrase.text.length };
    }
    return found;
  }

  private findByWord(lower: string, from: number): Span | undefined {
    if (this.byWord.size === 0) return undefined;
    // Start earlier, so that a word beginning before `from` is not mistaken for one beginning at
    // it.
    WORD.lastIndex = Math.max(0, from - 1);
    for (let match = WORD.exec(lower); match; match = WORD.exec(lower)) {
      const start = match.index;
      if (start < from) continue;
      const span = this.byWord.get(match[0])?.at(lower, start);
      if (span) return span;
    }
    return undefined;
  }

  private findBySymbol(lower: string, from: number, end: number): Span | undefined {
    if (this.bySymbol.size === 0) return undefined;
    for (let start = from; start < end; start++) {
      const span = this.bySymbol.get(lower.charAt(start))?.at(lower, start);
      if (span) return span;
    }
    return undefined;
  }
}

/** Phrases that share a beginning; matching takes few comparisons, however many there are. */
class PhraseGroup {
  private readonly sorted: readonly Phrase[];
  /** For each phrase, the index of the longest other phrase that is its prefix, or -1. */
  private readonly within: readonly number[];
  private readonly longest: number;

  constructor(phrases: readonly Phrase[]) {
    this.sorted = phrases.toSorted((one, other) => (one.text < other.text ? -1 : 1));
    this.longest = phrases.reduce((most, { text }) => Math.max(most, text.length), 0);
    const within: number[] = [];
    for (const [index, { text }] of this.sorted.entries()) {
      let shorter = index - 1;
      while (shorter >= 0 && !text.startsWith(this.sorted[shorter]!.text)) {
        shorter = within[shorter]!;
      }
      within.push(shorter);
    }
    this.within = within;
  }

  /** Returns the longest phrase at `start`. No phrase sorted after the text can match. */
  at(lower: string, start: number): Span | undefined {
    const ahead = lower.slice(start, start + this.longest);
    let [index, end] = [-1, this.sorted.length];
    while (end - index > 1) {
      const middle = (index + end) >> 1;
      if (this.sorted[middle]!.text <= ahead) index = middle;
      else end = middle;
    }
    for (; index >= 0; index = this.within[index]!) {
      const phrase = this.sorted[index]!;
      if (matchesAt(lower, phrase, start)) return { start, end: start + phrase.text.length };
    }
    return undefined;
  }
}

/** Returns the first position of a phrase from `from` and before `end`. */
function search(lower: string, phrase: Phrase, from: number, end: number): number | undefined {
  const { text, startsWithWord } = phrase;
  for (let at = lower.indexOf(text, from); at !== -1 && at < end;) {
    if (matchesAt(lower, phrase, at)) return at;
    // A match cannot start within the rest of a word, and a long word may contain the phrase
    // thousands of times.
    at = lower.indexOf(text, startsWithWord ? endOfWord(lower, at) : at + 1);
  }
  return undefined;
}

/** @param index of one of the word's characters */
function endOfWord(text: string, index: number): number {
  WORD.lastIndex = index;
  WORD.exec(text);
  return WORD.lastIndex;
}

/** Returns whether a phrase occurs at a position at word boundaries. */
function matchesAt(lower: string, phrase: Phrase, start: number): boolean {
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

/** Lowercases without changing the length, so that positions stay valid. */
function toLowerInPlace(text: string): string {
  const lower = text.toLowerCase();
  if (lower.length === text.length) return lower;
  return Array.from(text, (character) => {
    const one = character.toLowerCase();
    return one.length === character.length ? one : character;
  }).join('');
}
