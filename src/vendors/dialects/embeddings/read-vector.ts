import { UpstreamError } from '../../upstream-error.js';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * A vector as a vendor spells it: numbers, or base64 of 32-bit floats.
 *
 * @throws UpstreamError `unreadable` for anything else
 */
export function readVector(value: unknown): readonly number[] | string {
  return typeof value === 'string' ? readBase64(value) : readFloats(value);
}

/** As `readVector`, of a vendor that only knows numbers. */
export function readFloats(value: unknown): readonly number[] {
  if (!Array.isArray(value) || value.length === 0 || !value.every(Number.isFinite))
    throw noVector();
  return value as number[];
}

function readBase64(value: string): string {
  const isFloats = BASE64.test(value) && Buffer.byteLength(value, 'base64') % 4 === 0;
  if (!isFloats) throw noVector();
  return value;
}

function noVector(): UpstreamError {
  return new UpstreamError({ failure: 'unreadable', message: 'a vector that is none' });
}
