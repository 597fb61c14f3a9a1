/**
 * Returns a text with A to Z in lower case and everything else unchanged, to compare identifiers by.
 * Unicode folding makes different identifiers equal: the Kelvin sign lower-cases to `k`.
 */
export function asciiLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
