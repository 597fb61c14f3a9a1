const BLOCK = 512;
const SIZE_AT = 124;
const TYPE_AT = 156;
const MAGIC_AT = 257;
/** Long names and extended attributes, which the tar parser collects in memory. */
const LONG_TYPES = new Set(['L', 'K', 'x', 'g']);
const MAX_LONG_BYTES = 64 * 1024;

/** Thrown for a header that the tar parser must not see. */
export class HostileTarError extends Error {
  override readonly name = 'HostileTarError';
}

/**
 * Passes a tar stream through and validates sizes in headers. The tar parser trusts them: it buffers
 * long names of any announced size and accepts negative sizes.
 *
 * @throws HostileTarError
 */
export async function* checkTarHeaders(
  source: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, undefined> {
  let skip = 0;
  let head = Buffer.alloc(0);
  for await (const chunk of source) {
    let at = Math.min(skip, chunk.length);
    skip -= at;
    while (at < chunk.length) {
      const end = Math.min(chunk.length, at + BLOCK - head.length);
      head = Buffer.concat([head, chunk.subarray(at, end)]);
      at = end;
      if (head.length < BLOCK) break;
      skip = Math.ceil(readSize(head) / BLOCK) * BLOCK;
      head = Buffer.alloc(0);
      const step = Math.min(skip, chunk.length - at);
      at += step;
      skip -= step;
    }
    yield chunk;
  }
  return undefined;
}

function readSize(head: Buffer): number {
  // The tar parser rejects anything else.
  if (head.toString('latin1', MAGIC_AT, MAGIC_AT + 5) !== 'ustar') return 0;
  const field = head.subarray(SIZE_AT, SIZE_AT + 12);
  // Sizes beyond 8 GB are binary.
  const size =
    field[0] === 0x80
      ? Number(field.readBigUInt64BE(4))
      : Number.parseInt(/^ *([0-7]*)[ \0]*$/.exec(field.toString('latin1'))?.[1] ?? 'x', 8);
  const isEmpty = field.every((byte) => byte === 0);
  if (!isEmpty && !Number.isSafeInteger(size)) throw new HostileTarError('a size is not a number');
  const isLong = LONG_TYPES.has(String.fromCharCode(head[TYPE_AT]!));
  if (isLong && size > MAX_LONG_BYTES) throw new HostileTarError('a name is too long');
  return isEmpty ? 0 : size;
}
