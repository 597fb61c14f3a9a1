import { describe, expect, it } from '@jest/globals';
import { databaseError } from '../../../test/support/database-error.js';
import { classifyFailure, provesRollback } from './database-failure.js';

describe(classifyFailure.name, () => {
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
  ])('classifies SQLSTATE %s as %s', (code, kind) => {
    expect(classifyFailure(databaseError(code))).toBe(kind);
  });

  it('classifies a lost connection as unavailable', () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    expect(classifyFailure(refused)).toBe('unavailable');
    expect(classifyFailure(new Error('Connection terminated unexpectedly'))).toBe('unavailable');
  });

  it('classifies a value that cannot be encoded as bad data', () => {
    expect(classifyFailure(new RangeError('Invalid string length'))).toBe('data');
  });
});

describe(provesRollback.name, () => {
  it('trusts only responses from the server', () => {
    expect(provesRollback(databaseError('23505'))).toBe(true);
    expect(provesRollback(databaseError('40001'))).toBe(true);
    expect(provesRollback(databaseError('57P01'))).toBe(false);
    expect(provesRollback(new Error('Connection terminated unexpectedly'))).toBe(false);
  });
});
