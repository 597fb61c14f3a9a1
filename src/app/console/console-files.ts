import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, posix, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeOf } from '../../platform/errors/thrown.js';
import { isJsonObject } from '../../platform/http/json-body.js';

/** Beside the service's own build; what is built is whole, since it is renamed to this. */
const BUILT_FOLDER = fileURLToPath(new URL('../../../console', import.meta.url));

/** Tells a build from the sources, and one build from the next. `scripts/console.mjs` writes it. */
const STAMP = '.built-from';
/** Beside the folder: what `scripts/console.mjs` is doing, or why it could not. */
const STATE = '.console-state.json';

const INDEX = 'index.html';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/** A file of the console, as it is sent. */
export interface ConsoleFile {
  readonly type: string;
  /** Of its content, the same for each compression of it, so a weak one. */
  readonly etag: string;
  readonly bytes: Buffer;
  /** The same, compressed at the build; absent where that saved nothing. */
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

/** One build, whole in memory: about two megabytes, from the first visit on. */
interface Build {
  readonly stamp: string;
  /** By their paths below the folder, with forward slashes; a path that is none of these is no file. */
  readonly files: ReadonlyMap<string, ConsoleFile>;
  readonly index: string;
}

/** Why there is no console to show. */
export interface ConsoleState {
  /** `absent`: nobody builds it. */
  readonly kind: 'building' | 'failed' | 'absent';
  /** What is being done, or went wrong, in a few words. */
  readonly detail: string;
}

/**
 * The files of the built console. A build that takes the place of this one is noticed at the next page,
 * without a restart; files of the one before stay for pages that are open.
 */
export class ConsoleFiles {
  private current: Build | undefined;
  private previous: Build | undefined;
  private reading: Promise<void> | undefined;

  constructor(private readonly folder = BUILT_FOLDER) {}

  /** The page, with its placeholders; undefined while there is none. */
  async index(): Promise<string | undefined> {
    await this.refresh();
    return this.current?.index;
  }

  /** @param path below the folder, as `assets/main-1a2b3c.js` */
  async find(path: string): Promise<ConsoleFile | undefined> {
    const known = this.current?.files.get(path);
    if (known) return known;
    await this.refresh();
    return this.current?.files.get(path) ?? this.previous?.files.get(path);
  }

  async state(): Promise<ConsoleState> {
    try {
      const path = join(this.folder, '..', STATE);
      const state: unknown = JSON.parse(await readFile(path, 'utf8'));
      if (!isJsonObject(state)) return ABSENT;
      if (typeof state.problem === 'string') return { kind: 'failed', detail: state.problem };
      if (typeof state.step === 'string' && isAlive(Number(state.pid))) {
        return { kind: 'building', detail: state.step };
      }
      return { kind: 'failed', detail: 'whoever built it was stopped' };
    } catch {
      return ABSENT;
    }
  }

  private refresh(): Promise<void> {
    return (this.reading ??= this.read().finally(() => (this.reading = undefined)));
  }

  private async read(): Promise<void> {
    try {
      const path = join(this.folder, STAMP);
      const { mtimeMs, ino } = await stat(path);
      const stamp = `${mtimeMs} ${ino}`;
      if (stamp === this.current?.stamp) return;
      const build = await readBuild(this.folder, stamp);
      this.previous = this.current;
      this.current = build;
    } catch (error) {
      // It is being replaced, or there is none yet. What was read before goes on being served.
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }
}

const ABSENT: ConsoleState = { kind: 'absent', detail: 'nobody builds it' };

async function readBuild(folder: string, stamp: string): Promise<Build> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const places = new Map(
    entries
      .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((place) => [
        place.slice(folder.length).split(sep).filter(Boolean).join(posix.sep),
        place,
      ]),
  );
  const read = async (path: string): Promise<Buffer | undefined> => {
    const place = places.get(path);
    return place === undefined ? undefined : readFile(place);
  };
  const files = new Map<string, ConsoleFile>();
  for (const [path, place] of places) {
    const type = TYPES[extname(path)];
    if (type === undefined) continue;
    const [bytes, br, gzip] = await Promise.all([
      readFile(place),
      read(`${path}.br`),
      read(`${path}.gz`),
    ]);
    const etag = `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
    files.set(path, { type, etag, bytes, ...(br && { br }), ...(gzip && { gzip }) });
  }
  const index = files.get(INDEX);
  if (!index) throw new Error(`There is no ${INDEX} in ${folder}; npm run build:console makes it`);
  files.delete(INDEX);
  return { stamp, files, index: index.bytes.toString() };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
