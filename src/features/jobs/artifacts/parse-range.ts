import type { ByteRange } from './artifact-store.js';

/**
 * What of a file a `Range` header asks for. A header that is malformed, in another unit or for
 * several ranges counts as none, which HTTP allows.
 */
export function parseRange(
  header: string | undefined,
  bytes: number,
): 'whole' | 'unsatisfiable' | ByteRange {
  const [, first, last] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || first + last === '') return 'whole';
  if (first === '') {
    const length = Math.min(Number(last), bytes);
    return length === 0 ? 'unsatisfiable' : { start: bytes - length, end: bytes - 1 };
  }
  const start = Number(first);
  const end = last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1);
  if (last !== '' && Number(last) < start) return 'whole';
  return start >= bytes ? 'unsatisfiable' : { start, end };
}
