import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEXES = {
  request_log_series_sums_hours: `request_log_series_sums (series, period) WHERE grain = 'hour'`,
  request_log_facet_sums_end_user: `request_log_facet_sums (value_id, grain, period) WHERE facet = 'end_user'`,
};

/** Finds requests of rare series and of one end user (docs/decisions/0054). */
export class IndexRareRequests1764488000000 implements MigrationInterface {
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [name, place] of Object.entries(INDEXES)) {
      // An interrupted start leaves an invalid index.
      await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
      await queryRunner.query(`CREATE INDEX CONCURRENTLY ${name} ON ${place}`);
    }
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const name of Object.keys(INDEXES)) await queryRunner.query(`DROP INDEX ${name}`);
  }
}
