import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, posix, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeOf } from '../../platform/errors/thrown.js';
import { isJsonObject } from '../../platform/http/json-body.js';

/** Next to the service's build. Builds are renamed to this folder when complete. */
const BUILT_FOLDER = fileURLToPath(new URL('../../../console', import.meta.url));

/** Distinguishes a build from sources and one build from the next. Written by `scripts/console.mjs`. */
const STAMP = '.built-from';
/** Next to the folder: what `scripts/console.mjs` is doing, or why it failed. */
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

/** A file of the console, as served. */
export interface ConsoleFile {
  readonly type: string;
  /** Hash of the content. Weak, since compressed variants share it. */
  readonly etag: string;
  readonly bytes: Buffer;
  /** Compressed at the build; undefined where that saved nothing. */
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

/** A complete build, held in memory from the first visit on (about 2 MB). */
interface Build {
  readonly stamp: string;
  /** Files by path below the folder, with forward slashes. Only listed paths are served. */
  readonly files: ReadonlyMap<string, ConsoleFile>;
  readonly index: string;
}

/** Why there is no console to serve. */
export interface ConsoleState {
  /** `absent`: no build is running. */
  readonly kind: 'building' | 'failed' | 'absent';
  /** The current build step or the failure, in a few words. */
  readonly detail: string;
}

/**
 * Serves the files of the built console. Notices a new build at the next page load, without a
 * restart; files of the previous build stay available to open pages.
 */
export class ConsoleFiles {
  private current: Build | undefined;
  private previous: Build | undefined;
  private reading: Promise<void> | undefined;

  constructor(private readonly folder = BUILT_FOLDER) {}

  /** Returns the page with its placeholders; undefined while there is no build. */
  async index(): Promise<string | undefined> {
    await this.refresh();
    return this.current?.index;
  }

  /** @param path below the folder, e.g. `assets/main-1a2b3c.js` */
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
      return { kind: 'failed', detail: 'the build was stopped' };
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
      // The build is being replaced, or missing. The previous content stays available.
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }
}

const ABSENT: ConsoleState = { kind: 'absent', detail: 'no build is running' };

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
  if (!index) throw new Error(`There is no ${INDEX} in ${folder}; run npm run build:console`);
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
