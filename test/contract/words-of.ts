/**
 * Splits a text into words, each with the following space. Visits each character of 10 MB once, unlike a
 * split at word boundaries.
 */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  let start = 0;
  for (const { index, 0: space } of text.matchAll(/\s+/g)) {
    const end = index + space.length;
    words.push(text.slice(start, end));
    start = end;
  }
  return start < text.length || start === 0 ? [...words, text.slice(start)] : words;
}
