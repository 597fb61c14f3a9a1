/** What stands for one token where a vendor does not count them. */
const CHARACTERS_PER_TOKEN = 4;

/** Tokens of a text of so many characters (code points), where nobody has counted them. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
