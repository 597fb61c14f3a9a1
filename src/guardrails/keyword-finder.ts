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

/**
 * Finds whole words and phrases, whatever their case. Words are looked up rather than searched for
 * one by one, so a thousand of them cost as much as one.
 */
export class KeywordFinder implements Finder {
  /** Phrases by the word they begin with. */
  private readonly byFirstWord = new Map<string, string[]>();
  /** Those that begin with something else, such as `#secret`. */
  private readonly others: string[] = [];

  constructor(words: readonly string[]) {
    for (const word of words) {
      const phrase = word.trim().toLowerCase();
      const [first] = LEADING_WORD.exec(phrase) ?? [];
      if (first === undefined) this.others.push(phrase);
      else this.byFirstWord.set(first, [...(this.byFirstWord.get(first) ?? []), phrase]);
    }
  }

  find(text: string, from: number): Span | undefined {
    const lower = toLowerInPlace(text);
    let found = this.findByWord(lower, from);
    for (const phrase of this.others) {
      for (let at = lower.indexOf(phrase, from); at !== -1; at = lower.indexOf(phrase, at + 1)) {
        if (found && found.start <= at) break;
        if (!endsAtBoundary(lower, phrase, at)) continue;
        found = { start: at, end: at + phrase.length };
        break;
      }
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
      const phrase = phrases.find(
        (each) => lower.startsWith(each, start) && endsAtBoundary(lower, each, start),
      );
      if (phrase !== undefined) return { start, end: start + phrase.length };
    }
    return undefined;
  }
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

function endsAtBoundary(lower: string, phrase: string, start: number): boolean {
  if (!ENDS_IN_WORD.test(phrase)) return true;
  const end = start + phrase.length;
  return !STARTS_WITH_WORD.test(lower.slice(end, end + 2));
}
