/** What the vendor says, over and over: common words, four characters each on the average. */
export const LATIN_WORDS =
  ' the man and his dog sat by an old fire while they read the news of that day'.split(/(?= )/);

const WORD = new RegExp(`(?:${[...new Set(LATIN_WORDS)].join('|')})(?![a-z])`, 'g');

/** How many of these words an answer holds, whatever its dialect has around them. */
export function countWords(text) {
  return text.match(WORD)?.length ?? 0;
}
