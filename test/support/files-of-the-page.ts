import { readFileSync } from 'node:fs';

const PAGE = new URL('../../docs/adding-a-provider.md', import.meta.url);

/** Returns the texts, by path, of the new files in the diff on the page about adding a provider. */
export function filesOfThePage(): Map<string, string> {
  const files = new Map<string, string>();
  const [, diff = ''] = /```diff\n(.*?)```/s.exec(readFileSync(PAGE, 'utf8')) ?? [];
  for (const part of diff.split(/^\+\+\+ /m).slice(1)) {
    const [path = '', ...lines] = part.trimEnd().split('\n');
    const strange = lines.find((line) => !line.startsWith('+'));
    if (strange !== undefined) throw new Error(`${path} is not new: ${strange}`);
    files.set(path, lines.map((line) => `${line.slice(1)}\n`).join(''));
  }
  return files;
}
