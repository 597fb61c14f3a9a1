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
 * What happened to a request, what its vendors took for it, and what its caller calls it. All are NULL in
 * rows of before and of versions before, so nothing is rewritten; no lock is waited for longer than 200 ms.
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
