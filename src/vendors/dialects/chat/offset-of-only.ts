/** Offset of what stands in a text exactly once; -1 when it is missing or stands there again. */
export function offsetOfOnly(text: string, needle: string): number {
  const offset = text.indexOf(needle);
  if (offset === -1) return -1;
  return text.indexOf(needle, offset + needle.length) === -1 ? offset : -1;
}
