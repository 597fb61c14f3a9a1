import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../support/until.js';

const PROGRAM = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));

describe('a signal while the service starts', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stop-while-starting-'));
    // As root, the service runs PostgreSQL as another user, which needs access to the folder.
    await chmod(folder, 0o755);
  });
  afterEach(() => rm(folder, { recursive: true }));

  it.each(['SIGTERM', 'SIGINT'] as const)('%s ends it and its database', async (signal) => {
    const child = spawn(process.execPath, [PROGRAM], {
      env: { PATH: process.env.PATH ?? '', PORT: '0', GATEWAY_DATA_DIR: folder },
      stdio: 'ignore',
    });
    const exit = once(child, 'exit');
    const pidFile = join(folder, 'postgres', 'cluster', 'postmaster.pid');
    await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').includes('\n'));
    const databasePid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10);
    child.kill(signal);
    expect(await exit).toEqual([0, null]);
    await until(() => !existsSync(`/proc/${databasePid}`));
  });
});
