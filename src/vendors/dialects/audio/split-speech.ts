/** Finest last: where no sentence ends, a word does, and where none does, a character of the reader's. */
const GRAINS = ['sentence', 'word', 'grapheme'] as const;

/** What follows a boundary may have a say in whether it is one. */
const LOOKAHEAD_UNITS = 64;

/**
 * Cuts a text into pieces that a model takes, at ends of sentences in any script. A sentence that is
 * longer than that is cut between words, a word between characters as readers see them. Pieces that
 * hold no more than blanks are left out.
 *
 * @param maxCharacters code points of a piece
 */
export function splitSpeech(text: string, maxCharacters: number): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length;) {
    const end = endOf(text, start, maxCharacters);
    pieces.push(text.slice(start, end).trim());
    start = end;
  }
  return pieces.filter((piece) => piece !== '');
}

/**
 * Where the piece from `start` ends. Only what can belong to it is looked at: the time that finding
 * boundaries takes grows with the square of the text.
 */
function endOf(text: string, start: number, maxCharacters: number): number {
  const limit = skipCodePoints(text, start, maxCharacters);
  if (limit === text.length) return limit;
  const near = text.slice(start, limit + LOOKAHEAD_UNITS);
  for (const granularity of GRAINS) {
    let end = start;
    for (const { index } of new Intl.Segmenter(undefined, { granularity }).segment(near)) {
      if (start + index > limit) break;
      end = start + index;
    }
    if (end > start) return end;
  }
  // One character with thousands of marks: its code points are kept whole.
  return limit;
}

function skipCodePoints(text: string, start: number, count: number): number {
  let position = start;
  for (let index = 0; index < count && position < text.length; index++) {
    position += text.codePointAt(position)! > 0xffff ? 2 : 1;
  }
  return position;
}
