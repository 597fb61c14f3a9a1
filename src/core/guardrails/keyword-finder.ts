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
 * Finds whole words and phrases, whatever their case. Where there are many, they are looked up rather than
 * searched for, so a thousand of them cost as much as twenty.
 */
export class KeywordFinder implements Finder {
  private readonly searched: Phrase[] = [];
  /** By the word they begin with. */
  private readonly byWord = new Map<string, PhraseGroup>();
  /** By their first character, where that is of no word. */
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
    // A word that begins before `from` must not be taken for one that begins at it.
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

/** Phrases of which it takes few comparisons to tell whether one stands at a place, however many they are. */
class PhraseGroup {
  private readonly sorted: readonly Phrase[];
  /** For each of them the longest other one that it begins with: its index, or -1. */
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

  /** One that stands in the text at `start`. What stands there begins with none that is sorted behind it. */
  at(lower: string, start: number): Span | undefined {
    const there = lower.slice(start, start + this.longest);
    let [index, behind] = [-1, this.sorted.length];
    while (behind - index > 1) {
      const middle = (index + behind) >> 1;
      if (this.sorted[middle]!.text <= there) index = middle;
      else behind = middle;
    }
    for (; index >= 0; index = this.within[index]!) {
      const phrase = this.sorted[index]!;
      if (standsAt(lower, phrase, start)) return { start, end: start + phrase.text.length };
    }
    return undefined;
  }
}

/** Where a phrase stands first, from `from` on and before `end`. */
function search(lower: string, phrase: Phrase, from: number, end: number): number | undefined {
  const { text, startsWithWord } = phrase;
  for (let at = lower.indexOf(text, from); at !== -1 && at < end;) {
    if (standsAt(lower, phrase, at)) return at;
    // Within the rest of a word it can't begin: a long one may hold it thousands of times.
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
