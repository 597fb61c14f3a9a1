import { UpstreamError, type Acceptance } from '../upstream-error.js';

/**
 * Maps undici's error to an UpstreamError.
 *
 * @param acceptance `no` when nothing was sent yet. Afterwards, codes for an unreachable peer or broken
 *   TLS mean that an established connection was lost
 */
export function transportError(
  error: NodeJS.ErrnoException,
  acceptance: Acceptance = 'unknown',
): UpstreamError {
  const code = error.code ?? '';
  const isAboutConnecting = CONNECT_CODES.has(code) || /^(?:ERR_SSL_|ERR_TLS_|CERT_)/.test(code);
  const failure = isAboutConnecting && acceptance === 'no' ? 'connect' : 'reset';
  return new UpstreamError(
    {
      failure,
      message: `${error.code ?? error.name}: ${error.message}`,
      accepted: acceptance,
    },
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
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'EPROTO',
  'ERR_PRIVATE_ADDRESS',
]);
