import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withSecretFiles } from './secret-files.js';

describe(withSecretFiles.name, () => {
  let folder: string;
  let files = 0;
  const fileWith = (content: string): string => {
    const path = join(folder, `secret-${files++}`);
    writeFileSync(path, content);
    return path;
  };
  const read = (environment: Record<string, string>) => {
    const problems: string[] = [];
    const names = ['A_KEY', 'A_TOKEN', 'GATEWAY_SECRET'];
    return { values: withSecretFiles(environment, names, problems), problems };
  };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'secret-files-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['unchanged', 'sk-1 2=', 'sk-1 2='],
    ['without a final line break', 'sk-1\n', 'sk-1'],
    ['without final line breaks of other systems', 'sk-1\r\n\n', 'sk-1'],
    ['with spaces, which may be part of the secret', ' sk-1 ', ' sk-1 '],
    ['with line breaks inside', 'a\nb\n', 'a\nb'],
  ])('reads a secret from its file %s', (_, content, secret) => {
    const path = fileWith(content);
    const { values, problems } = read({ A_KEY_FILE: path, A_TOKEN: 'plain', OTHER_FILE: 'x' });
    expect(problems).toEqual([]);
    expect(values).toEqual({
      A_KEY: secret,
      A_KEY_FILE: path,
      A_TOKEN: 'plain',
      OTHER_FILE: 'x',
    });
  });

  it('names each variable with an unusable file, but neither path nor content', () => {
    const cases = [
      [{ A_KEY_FILE: '/nowhere/sk-1' }, 'A_KEY_FILE names a file that cannot be read (ENOENT)'],
      [{ A_KEY_FILE: folder }, 'A_KEY_FILE names a file that cannot be read (EISDIR)'],
      [{ A_KEY_FILE: fileWith('\n') }, 'A_KEY_FILE names an empty file'],
      [
        { A_KEY_FILE: fileWith('sk-1'), A_KEY: 'sk-2' },
        'A_KEY and A_KEY_FILE must not both be set; leave one of them out',
      ],
    ] as const;
    for (const [environment, problem] of cases) {
      expect(read({ ...environment }).problems).toEqual([problem]);
    }
    const { problems } = read({ A_KEY_FILE: '/nowhere', A_TOKEN_FILE: '/nowhere' });
    expect(problems).toHaveLength(2);
  });

  it("does not read the service's own secret, whose file is read on each use", () => {
    const environment = { GATEWAY_SECRET_FILE: '/nowhere' };
    expect(read(environment)).toEqual({ values: environment, problems: [] });
    expect(read({ ...environment, GATEWAY_SECRET: 'x' }).problems).toEqual([
      'GATEWAY_SECRET and GATEWAY_SECRET_FILE must not both be set; leave one of them out',
    ]);
  });
});
