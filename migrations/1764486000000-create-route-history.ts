import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Results of route calls, in sums of five minutes that are kept for a week (docs/decisions/0073). */
export class CreateRouteHistory1764486000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // model: a catalogue row. latency_ms: total time to the first content of all answers.
    await queryRunner.query(`
      CREATE TABLE route_history (
        period timestamptz NOT NULL,
        provider text NOT NULL,
        model text NOT NULL,
        answered bigint NOT NULL,
        failed bigint NOT NULL,
        latency_ms bigint NOT NULL,
        PRIMARY KEY (period, provider, model)
      ) WITH (fillfactor = 80)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE route_history`);
  }
}
