import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** The short form of `node bench/scale/partitions.mjs`. */
describe('the migration to months', () => {
  let empty: TestDatabase;

  beforeAll(async () => {
    empty = await createTestDatabase({ migrate: false });
  });
  afterAll(() => empty.drop());

  it('fails no request of the previous version or this one, and keeps the books balanced', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      'bench/scale/partitions.mjs',
      '20000',
      empty.url,
    ]);
    const requests = Number(/^requests (\d+), failures 0$/m.exec(stdout)?.[1]);
    expect(requests).toBeGreaterThan(100);
    expect(stdout).toMatch(/^faults in the books: 0$/m);
    const month = new Date().toISOString().slice(0, 7).replace('-', '_');
    expect(stdout).toMatch(new RegExp(`^request_logs_${month} +[1-9]\\d* rows$`, 'm'));
    expect(stdout).toMatch(/^request_logs_before_months +2\d{4} rows$/m);
  });
});
