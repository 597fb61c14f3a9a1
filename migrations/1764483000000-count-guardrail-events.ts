import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Counts of guardrail events by day are read from an index alone. */
export class CountGuardrailEvents1764483000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX guardrail_events_counts_idx ON guardrail_events (tenant_id, created_at)
        INCLUDE (guardrail_id, action, direction)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX guardrail_events_counts_idx`);
  }
}
