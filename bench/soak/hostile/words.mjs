/** The vendor's text: common words with four characters on average, repeated. */
export const LATIN_WORDS =
  ' the man and his dog sat by an old fire while they read the news of that day'.split(/(?= )/);

const WORD = new RegExp(`(?:${[...new Set(LATIN_WORDS)].join('|')})(?![a-z])`, 'g');

/** Counts these words in a response of any dialect. */
export function countWords(text) {
  return text.match(WORD)?.length ?? 0;
}
