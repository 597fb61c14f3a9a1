/** A text without the API keys in it, such as a path that one was put into by mistake. */
export function hideKeys(text: string): string {
  return !text.includes('sk-') ? text : text.replace(/\bsk-[^/]{8,}/g, 'sk-…');
}
