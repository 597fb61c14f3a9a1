import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Serves daily counts of guardrail events from an index alone. */
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
