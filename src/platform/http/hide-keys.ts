/**
 * The beginning of a key, as it is or percent-encoded. Not inside of a word (`task-`), but after an
 * encoded character, whose last digit may be a letter.
 */
const KEY = /(?:(?<![a-z])|(?<=%[\da-f]{2}))(?:s|%73)(?:k|%6b)(?:-|%2d)[^/]{8,}/gi;

/** A text without the API keys in it, such as a path that one was put into by mistake. */
export function hideKeys(text: string): string {
  return text.replace(KEY, 'sk-…');
}
