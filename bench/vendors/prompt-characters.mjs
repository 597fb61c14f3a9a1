/** Counts characters of contents, each a string, a list of text parts, or missing. */
export function promptCharactersOf(contents) {
  let characters = 0;
  for (const content of contents) {
    if (typeof content === 'string') characters += content.length;
    else for (const part of content ?? []) characters += part.text.length;
  }
  return characters;
}
