import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { UploadFolder } from '../../src/platform/http/upload-folder.js';
import type { AppConfig } from '../../src/platform/config/app-config.js';

const NO_PROCESS = 2 ** 22 + 1;

describe('UploadFolder', () => {
  let dataDirectory: string;
  let root: string;

  beforeEach(async () => {
    dataDirectory = await mkdtemp(join(tmpdir(), 'gateway-uploads-'));
    root = join(dataDirectory, 'tmp', 'uploads');
  });
  afterEach(() => rm(dataDirectory, { recursive: true, force: true }));

  const make = (): UploadFolder =>
    new UploadFolder({ dataDirectory, admission: { uploadBudgetBytes: 100 } } as AppConfig);

  it('returns paths in a folder that only its owner may enter, and removes the folder', async () => {
    const folder = make();
    const path = await folder.newPath();
    expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
    await writeFile(path, 'x');
    await folder.onApplicationShutdown();
    expect(await readdir(root)).toEqual([]);
  });

  it('removes the files of killed processes, and nothing of living ones', async () => {
    const living = make();
    const path = await living.newPath();
    const [space] = (await readdir(root))[0]!.split('-');
    const left = [`${space}-${NO_PROCESS}-0a`, `${space}-${process.pid}-0b`, 'aaaaaaaaaaaa-1-0c'];
    const kept = [`${space}-${process.ppid}-0d`, 'aaaaaaaaaaaa-1-0e', 'something else'];
    for (const name of [...left, ...kept]) {
      await mkdir(join(root, name));
      await writeFile(join(root, name, 'upload'), 'x');
    }
    await utimes(join(root, 'aaaaaaaaaaaa-1-0c'), 0, 0);

    const next = make();
    await next.onModuleInit();
    const names = await readdir(root);
    expect(names.sort()).toEqual([...kept, dirname(path).slice(root.length + 1)].sort());
    await next.onApplicationShutdown();
    await living.onApplicationShutdown();
  });
});
