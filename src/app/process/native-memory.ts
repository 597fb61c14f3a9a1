import { setTimeout as wait } from 'node:timers/promises';

/** V8's helper threads free the buffers of collected objects a little later. */
const FREED_AFTER_MS = 1_000;

type Trim = (padBytes: number) => number;

let trim: Promise<Trim | undefined> | undefined;

/**
 * Has the C library give its free pages back. glibc by itself gives back only what lies above the
 * last piece in use, so that one small piece, allocated during a load, keeps everything below it
 * resident. With other C libraries, or where the optional package is missing, nothing happens.
 */
export async function returnNativeMemory(): Promise<void> {
  await wait(FREED_AFTER_MS, undefined, { ref: false });
  const mallocTrim = await (trim ??= findTrim());
  mallocTrim?.(0);
}

async function findTrim(): Promise<Trim | undefined> {
  if (process.platform !== 'linux') return undefined;
  try {
    const { default: koffi } = await import('koffi');
    return koffi.load(null).func('int malloc_trim(size_t pad)') as Trim;
  } catch {
    return undefined;
  }
}
