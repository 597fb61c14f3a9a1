/**
 * Characters that another route has to say again, at least, before it is believed to go on from where
 * an answer stopped: enough to be no coincidence, few enough to be said again at once.
 */
const LEAST_TAIL = 16;
/** How far back the beginning of a word is looked for; beyond that it is a language without spaces. */
const LONGEST_WORD = 32;

const SPACE = /\s/u;
/** What belongs to the character before it: marks, joiners, the second half of a pair. */
const BOUND = /[\p{M}\p{Emoji_Modifier}\p{Regional_Indicator}\udc00-\udfff]|\u200d/u;
const JOINER = '\u200d';

/** An answer's text in two: what the next route is given as said, and what it has to say again. */
export interface CutText {
  /** Ends in a visible character; empty where the text is too short, or all the same. */
  readonly said: string;
  readonly tail: string;
}

/**
 * Cuts the end off a text, at the beginning of a word where there are words, since models go on badly
 * from within one. The end stands nowhere before in the text, so it can only be found in one place.
 */
export function cutTail(text: string): CutText {
  if (text.length <= LEAST_TAIL) return { said: '', tail: text };
  const repeated = longestRepeatedEnd(withSingleSpaces(text));
  for (let length = LEAST_TAIL; length < text.length; length *= 2) {
    const at = cutBefore(text, text.length - length);
    if (at === 0) break;
    const tail = text.slice(at);
    if (tail.trim() !== '' && withSingleSpaces(tail.trimStart()).length > repeated) {
      return { said: text.slice(0, at), tail };
    }
  }
  return { said: '', tail: text };
}

/** A text is the same whatever the white space in it, since that may be another where it is said again. */
function withSingleSpaces(text: string): string {
  return text.replace(/\s+/gu, ' ');
}

/**
 * Length of the longest end of a text that stands before in it, too. As in the search of Knuth, Morris and
 * Pratt, read from the end: looking for an end of a text that repeats itself would take the square of its length.
 */
function longestRepeatedEnd(text: string): number {
  const lastIndex = text.length - 1;
  /** By place, from the end: how much of the text's end stands right behind it. */
  const repeated = new Int32Array(text.length);
  let longest = 0;
  for (let place = 1, length = 0; place <= lastIndex; place++) {
    const character = text.charCodeAt(lastIndex - place);
    while (length > 0 && character !== text.charCodeAt(lastIndex - length)) {
      length = repeated[length - 1]!;
    }
    if (character === text.charCodeAt(lastIndex - length)) length++;
    repeated[place] = length;
    longest = Math.max(longest, length);
  }
  return longest;
}

/** The nearest place at or before `index` where a text may be cut; 0: none. */
function cutBefore(text: string, index: number): number {
  for (let at = index; at > Math.max(0, index - LONGEST_WORD); at--) {
    if (SPACE.test(text[at]!) && !SPACE.test(text[at - 1]!)) return at;
  }
  let at = index;
  while (at > 0 && !isBetweenCharacters(text, at)) at--;
  return at;
}

function isBetweenCharacters(text: string, at: number): boolean {
  const next = String.fromCodePoint(text.codePointAt(at)!);
  return !BOUND.test(next) && text[at - 1] !== JOINER && !SPACE.test(text[at - 1]!);
}
