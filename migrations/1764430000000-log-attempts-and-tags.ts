import type { MigrationInterface, QueryRunner } from 'typeorm';
import { shortly } from './short-locks.js';

const COLUMNS = {
  first_token_ms: 'integer',
  vendor_cost: 'bigint',
  vendor_started_ms: 'integer',
  attempts: 'jsonb',
  end_user: 'text',
  tags: 'jsonb',
};

/**
 * Adds attempts, vendor cost and the caller's tags to the log. Rows of previous versions have NULL, so
 * none is rewritten. Waits at most 200 ms for a lock.
 */
export class LogAttemptsAndTags1764430000000 implements MigrationInterface {
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    const columns = Object.entries(COLUMNS).map(
      ([name, type]) => `ADD COLUMN IF NOT EXISTS ${name} ${type}`,
    );
    await shortly(queryRunner, async () => {
      await queryRunner.query(`ALTER TABLE request_logs ${columns.join(', ')}`);
    });
    await shortly(queryRunner, async () => {
      await queryRunner.query(
        `ALTER TABLE jobs ADD COLUMN IF NOT EXISTS end_user text, ADD COLUMN IF NOT EXISTS tags jsonb`,
      );
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const columns = Object.keys(COLUMNS).map((name) => `DROP COLUMN ${name}`);
    await queryRunner.query(`ALTER TABLE request_logs ${columns.join(', ')}`);
    await queryRunner.query(`ALTER TABLE jobs DROP COLUMN end_user, DROP COLUMN tags`);
  }
}
