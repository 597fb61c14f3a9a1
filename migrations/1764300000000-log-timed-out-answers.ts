import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds an outcome for started answers that the gateway's time limit ended, which are charged for
 * generated output. Existing rows satisfy the narrower constraint, so none is checked.
 */
export class LogTimedOutAnswers1764300000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE request_logs
        DROP CONSTRAINT request_logs_outcome_check,
        ADD CONSTRAINT request_logs_outcome_check CHECK (
          outcome IN ('completed', 'failed', 'cancelled', 'timeout', 'crashed', 'refused')
        ) NOT VALID`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`UPDATE request_logs SET outcome = 'failed' WHERE outcome = 'timeout'`);
    await queryRunner.query(`
      ALTER TABLE request_logs
        DROP CONSTRAINT request_logs_outcome_check,
        ADD CONSTRAINT request_logs_outcome_check CHECK (
          outcome IN ('completed', 'failed', 'cancelled', 'crashed', 'refused')
        )`);
  }
}
