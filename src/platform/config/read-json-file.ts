import { readFileSync } from 'node:fs';

/**
 * The content of a JSON file that the operator wrote.
 * @throws Error whose message completes a sentence that begins with the variable's name.
 */
export function readJsonFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new Error(`names a file that cannot be read (${code})`, { cause: error });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's own message quotes the file, which may hold keys.
    throw new Error('names a file that is not valid JSON', { cause: error });
  }
}
