/**
 * Minimum length of the tail that another route repeats to prove that it continues the answer: long
 * enough to rule out coincidence, short enough to be quick.
 */
const LEAST_TAIL = 16;
/** Longest search for the start of a word; languages without spaces have none. */
const LONGEST_WORD = 32;

const SPACE = /\s/u;
/** Characters bound to the one before: marks, joiners, low surrogates. */
const BOUND = /[\p{M}\p{Emoji_Modifier}\p{Regional_Indicator}\udc00-\udfff]|\u200d/u;
const JOINER = '\u200d';

/** An answer's text in two parts: given to the next route as said, and to be repeated. */
export interface CutText {
  /** Ends in a visible character; empty when the text is too short or too uniform. */
  readonly said: string;
  readonly tail: string;
}

/**
 * Cuts a unique tail off a text, at the start of a word if possible, since models continue badly
 * within words.
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

/** Normalizes white space, which may differ in the repetition. */
function withSingleSpaces(text: string): string {
  return text.replace(/\s+/gu, ' ');
}

/**
 * Returns the length of the longest suffix that also occurs earlier. Uses the Knuth-Morris-Pratt
 * failure function from the end, because a naive search of a repetitive text takes quadratic time.
 */
function longestRepeatedEnd(text: string): number {
  const lastIndex = text.length - 1;
  /** By position from the end: length of the suffix that starts there and also ends the text. */
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

/** Returns the nearest valid cut at or before `index`; 0 for none. */
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
