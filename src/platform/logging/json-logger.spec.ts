import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { JsonLogger } from './json-logger.js';

const LINES = 1_000;
const LONG = 'x'.repeat(300);

describe(JsonLogger.name, () => {
  let folder: string;
  let pipe: number;
  /** Loggers close their descriptor. */
  let openPipe: () => number;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'json-logger-'));
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    // Opens both ends, so that there is a reader that reads when the test does.
    openPipe = () => openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    pipe = openPipe();
  });
  afterEach(() => {
    closeSync(pipe);
    rmSync(folder, { recursive: true });
  });

  const fill = (logger: JsonLogger): void => {
    for (let line = 0; line < LINES; line++) logger.request({ line, LONG });
  };

  it('does not interleave lines of several processes with a slow reader', async () => {
    const loggers = [new JsonLogger(openPipe()), new JsonLogger(openPipe())];
    loggers.forEach(fill);
    let areClosed = false;
    void Promise.all(loggers.map((logger) => logger.close())).then(() => (areClosed = true));
    const piece = Buffer.alloc(30_000);
    let text = '';
    while (!areClosed) {
      await wait(1);
      text += piece.toString('latin1', 0, readPiece(pipe, piece));
    }
    for (let read = 1; read > 0;) {
      read = readPiece(pipe, piece);
      text += piece.toString('latin1', 0, read);
    }
    const lines = text.trimEnd().split('\n');
    expect(lines).toHaveLength(2 * LINES);
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ level: 'info', LONG });
  });

  it.each([
    ['error', ['fatal', 'error']],
    ['warn', ['fatal', 'error', 'warn']],
    ['info', ['fatal', 'error', 'warn', 'info', 'request']],
    ['debug', ['fatal', 'error', 'warn', 'info', 'debug', 'request', 'dull request']],
  ] as const)('writes at level %s: %j', async (level, expected) => {
    const logger = new JsonLogger(openPipe());
    logger.setLevel(level);
    logger.fatal('fatal');
    logger.error('error');
    logger.warn('warn');
    logger.log('info');
    logger.debug('debug');
    logger.request({ msg: 'request' });
    logger.request({ msg: 'dull request' }, 'debug');
    await logger.close();
    const piece = Buffer.alloc(10_000);
    const text = piece.toString('latin1', 0, readPiece(pipe, piece));
    const lines = text.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(expected);
  });

  it('writes no character that a terminal obeys', async () => {
    const logger = new JsonLogger(openPipe());
    const path = '/v1/\u009b2J\u202Eslr\u2028\u007f\u200B';
    logger.request({ path });
    logger.warn(`no route for ${path}\nFiring`);
    await logger.close();
    const piece = Buffer.alloc(10_000);
    const text = piece.toString('utf8', 0, readPiece(pipe, piece));
    expect(text).toMatch(/^[\x20-\x7e]+\n[\x20-\x7e]+\n$/);
    const [request, warning] = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(request).toMatchObject({ path });
    expect(warning).toMatchObject({ msg: `no route for ${path}\nFiring` });
  });

  it('closes in time when nothing is read', async () => {
    const logger = new JsonLogger(openPipe());
    fill(logger);
    await logger.close();
    // The rest keeps waiting while the process lives.
    const piece = Buffer.alloc(100_000);
    let readBytes = 0;
    for (let read = 1; read > 0; readBytes += read) {
      read = readPiece(pipe, piece);
      await wait(150);
    }
    expect(readBytes).toBeGreaterThan(LINES * LONG.length);
  });

  it('closes without an error when nothing can be written', async () => {
    const full = openSync('/dev/full', 'w');
    const logger = new JsonLogger(full);
    fill(logger);
    await wait(20);
    fill(logger);
    await logger.close();
    closeSync(full);
  });
});

function readPiece(descriptor: number, piece: Buffer): number {
  try {
    return readSync(descriptor, piece);
  } catch {
    return 0;
  }
}
