import { UpstreamError, type Acceptance } from '../upstream-error.js';

/** What undici calls a failure, in our words. @param acceptance for a failure that is no `connect` */
export function transportError(
  error: NodeJS.ErrnoException,
  acceptance: Acceptance = 'unknown',
): UpstreamError {
  const code = error.code ?? '';
  const isConnect = CONNECT_CODES.has(code) || /^(?:ERR_SSL_|ERR_TLS_|CERT_)/.test(code);
  const failure = isConnect ? 'connect' : 'reset';
  return new UpstreamError(
    {
      failure,
      message: `${error.code ?? error.name}: ${error.message}`,
      accepted: isConnect ? 'no' : acceptance,
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
]);
