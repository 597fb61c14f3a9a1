import { readFileSync } from 'node:fs';

const PAGE = new URL('../../docs/adding-a-provider.md', import.meta.url);

/** The new files of the diff that the page on adding a provider shows: their texts, by their paths. */
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
