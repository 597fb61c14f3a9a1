import { describe, expect, it } from '@jest/globals';
import { transportError } from './transport-error.js';

describe(transportError.name, () => {
  it.each([
    ['ECONNREFUSED', 'connect'],
    ['ENOTFOUND', 'connect'],
    ['EAI_AGAIN', 'connect'],
    ['ETIMEDOUT', 'connect'],
    ['UND_ERR_CONNECT_TIMEOUT', 'connect'],
    ['CERT_HAS_EXPIRED', 'connect'],
    ['CERT_NOT_YET_VALID', 'connect'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'connect'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'connect'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'connect'],
    ['EPROTO', 'connect'],
    ['ECONNRESET', 'reset'],
    ['EPIPE', 'reset'],
    ['UND_ERR_SOCKET', 'reset'],
    ['HPE_INVALID_CONSTANT', 'reset'],
    [undefined, 'reset'],
  ])('maps %s to %s', (code, failure) => {
    const cause = Object.assign(new Error('it broke'), { code });
    const error = transportError(cause, 'no');
    const message = `${code ?? 'Error'}: it broke`;
    expect(error).toMatchObject({ failure, cause, message, accepted: 'no' });
  });

  it.each(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EPROTO', 'ERR_SSL_BAD_RECORD_MAC'])(
    'maps %s to a lost connection once something was sent, with unknown acceptance',
    (code) => {
      const error = transportError(Object.assign(new Error('it broke'), { code }));
      expect(error).toMatchObject({ failure: 'reset', accepted: 'unknown' });
    },
  );
});
