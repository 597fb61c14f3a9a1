import { describe, expect, it } from '@jest/globals';
import { databaseError } from '../../../test/support/database-error.js';
import { QueryFailedError } from 'typeorm';
import { errorBody } from '../errors/error-response.js';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import { gatewayErrorOf, noteConnectionError } from './database-outage.js';

describe('gatewayErrorOf', () => {
  it.each([
    ['25006', 503],
    ['53100', 503],
    ['53300', 503],
    ['57P01', 503],
    ['57P03', 503],
    ['57014', 503],
    ['58030', 503],
    ['08006', 503],
    ['40P01', 503],
    ['55P03', 503],
    ['25P03', 503],
    ['23505', 500],
    ['22P02', 500],
    ['42P01', 500],
    ['42501', 500],
    ['XX000', 500],
  ])('maps SQLSTATE %s to %i, thrown directly or by TypeORM', (code, status) => {
    const error = databaseError(code);
    expect(gatewayErrorOf(error)).toMatchObject({ status, cause: error });
    expect(gatewayErrorOf(new QueryFailedError('SELECT', [], error)).status).toBe(status);
  });

  it.each([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'Query read timeout',
    'Client has encountered a connection error and is not queryable',
  ])('treats the driver\'s "%s" as an outage', (message) => {
    expect(gatewayErrorOf(new Error(message)).status).toBe(503);
  });

  it('distinguishes socket errors of the database from others', () => {
    const [own, other] = [0, 1].map(() => Object.assign(new Error('read'), { code: 'ECONNRESET' }));
    noteConnectionError(own);
    expect(gatewayErrorOf(own).status).toBe(503);
    expect(gatewayErrorOf(other).status).toBe(500);
  });

  it('passes gateway errors through and treats anything else as a bug', () => {
    const refusal = new InvalidRequestError('model', 'No.');
    expect(gatewayErrorOf(refusal)).toBe(refusal);
    for (const thrown of [new TypeError('x'), 'x', undefined, null]) {
      expect(gatewayErrorOf(thrown).status).toBe(500);
    }
  });

  it('says what to do and when, without details of the database', () => {
    const error = gatewayErrorOf(databaseError('53100'));
    expect(error.retryAfterSeconds).toBe(5);
    expect(errorBody(error)).toEqual({
      error: {
        message:
          'The database is unavailable or rejects writes. Send the request again in a few seconds.',
        type: 'provider_unavailable',
        code: 503,
        param: 'database',
      },
    });
  });
});
