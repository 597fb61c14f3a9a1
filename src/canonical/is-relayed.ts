import type { CanonicalRequest, Dialect } from './canonical-request.js';

/** Whether an upstream that speaks this dialect passes its answer on as it is. */
export function isRelayed(
  request: Pick<CanonicalRequest, 'dialect' | 'decodesAnswer'>,
  dialect: Dialect,
): boolean {
  return request.dialect === dialect && request.decodesAnswer !== true;
}
