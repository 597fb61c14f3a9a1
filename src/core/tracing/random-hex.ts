import { randomFillSync } from 'node:crypto';

/** Asking for many at once costs little more than asking for a few. */
const pool = Buffer.allocUnsafe(4_096);
let used = pool.length;

/** Random bytes, as twice as many hexadecimal digits. At most 64 bytes. */
export function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const digits = pool.toString('hex', used, used + bytes);
  used += bytes;
  return digits;
}
