import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** What is shorter gains less than it costs. */
const MIN_GZIPPED_BYTES = 2 * 1024;
/** The first byte of anything gzipped; traces in JSON begin with a bracket. */
const GZIP = 0x1f;

/** What a `TraceBatch` wrote, as the database keeps it. Its names repeat: gzip leaves a tenth of it. */
export async function toStored(written: Buffer): Promise<Buffer> {
  // Off the main thread, and at the fastest level.
  return written.length < MIN_GZIPPED_BYTES ? written : compress(written, { level: 1 });
}

/** The reverse of `toStored`. */
export async function fromStored(stored: Buffer): Promise<Buffer> {
  return stored[0] === GZIP ? decompress(stored) : stored;
}
