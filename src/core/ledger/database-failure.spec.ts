import { describe, expect, it } from '@jest/globals';
import { databaseError } from '../../../test/support/database-error.js';
import { classifyFailure, provesRollback } from './database-failure.js';

describe('classifyFailure', () => {
  it.each([
    ['22P02', 'data'],
    ['22021', 'data'],
    ['23505', 'data'],
    ['23514', 'data'],
    ['40P01', 'conflict'],
    ['40001', 'conflict'],
    ['57P01', 'unavailable'],
    ['53300', 'unavailable'],
    ['53100', 'unavailable'],
    ['25006', 'unavailable'],
    ['42501', 'unavailable'],
    ['55P03', 'locked'],
    ['08006', 'unavailable'],
  ])('takes SQLSTATE %s for %s', (code, kind) => {
    expect(classifyFailure(databaseError(code))).toBe(kind);
  });

  it('takes a lost connection for a database that is away', () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    expect(classifyFailure(refused)).toBe('unavailable');
    expect(classifyFailure(new Error('Connection terminated unexpectedly'))).toBe('unavailable');
  });

  it('takes a value that can not be written down for bad data', () => {
    expect(classifyFailure(new RangeError('Invalid string length'))).toBe('data');
  });
});

describe('provesRollback', () => {
  it('trusts an answer of the server and nothing else', () => {
    expect(provesRollback(databaseError('23505'))).toBe(true);
    expect(provesRollback(databaseError('40001'))).toBe(true);
    expect(provesRollback(databaseError('57P01'))).toBe(false);
    expect(provesRollback(new Error('Connection terminated unexpectedly'))).toBe(false);
  });
});
