import { UpstreamError } from '../upstream-error.js';

/** What undici calls a failure, in our words. */
export function transportError(error: NodeJS.ErrnoException): UpstreamError {
  const failure = CONNECT_CODES.has(error.code ?? '') ? 'connect' : 'reset';
  return new UpstreamError(
    { failure, message: `${error.code ?? error.name}: ${error.message}` },
    { cause: error },
  );
}

const CONNECT_CODES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'EPROTO',
]);
