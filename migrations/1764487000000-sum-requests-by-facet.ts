import type { MigrationInterface, QueryRunner } from 'typeorm';
import { shortly } from './short-locks.js';

/**
 * Sums requests by a single property, since there can be too many series to add up for each query: by end
 * user, and by the hours of a month (docs/decisions/0054). The service derives them from existing series in
 * the background.
 */
export class SumRequestsByFacet1764487000000 implements MigrationInterface {
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await shortly(queryRunner, async () => {
      // facet_id: equals series_id, unless an older instance has added to the series alone.
      // facets_from: midnight from which facets are complete. facets_again_at: when older ones are computed.
      await queryRunner.query(`
        ALTER TABLE request_log_progress
          ADD COLUMN facet_id bigint NOT NULL DEFAULT 0,
          ADD COLUMN facets_from timestamptz NOT NULL DEFAULT '-infinity',
          ADD COLUMN facets_again_at timestamptz NOT NULL DEFAULT now()`);
      await queryRunner.query(`
        UPDATE request_log_progress SET facet_id = series_id, facets_from = 'infinity',
          facets_again_at = now() + interval '15 minutes'
        WHERE series_id > 0 OR EXISTS (SELECT FROM request_log_series)`);
      // value is NULL when the property is absent, and unknown with is_rest. value_id is its hash.
      await queryRunner.query(`
        CREATE TABLE request_log_facet_sums (
          tenant_id uuid NOT NULL,
          facet text NOT NULL,
          grain text NOT NULL CHECK (grain IN ('hour', 'day')),
          period timestamptz NOT NULL,
          value_id uuid NOT NULL,
          value text,
          is_rest boolean NOT NULL,
          requests bigint NOT NULL,
          errors bigint NOT NULL,
          prompt_tokens bigint NOT NULL,
          completion_tokens bigint NOT NULL,
          cost bigint NOT NULL,
          shortfall bigint NOT NULL,
          vendor_cost bigint NOT NULL,
          latency_ms bigint NOT NULL,
          PRIMARY KEY (tenant_id, facet, grain, period, value_id)
        ) WITH (fillfactor = 80)`);
      await queryRunner.query(
        `CREATE INDEX request_log_facet_sums_period
           ON request_log_facet_sums (facet, grain, period, value_id)`,
      );
      // Older instances correct only the series; newer ones mark that they corrected both.
      await queryRunner.query(`
        CREATE FUNCTION doubt_facets() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF EXISTS (SELECT FROM taken) THEN
            UPDATE request_log_progress SET facet_id = -1;
          END IF;
          RETURN NULL;
        END $$`);
      await queryRunner.query(`
        CREATE TRIGGER doubt_facets AFTER DELETE ON request_log_series_corrections
          REFERENCING OLD TABLE AS taken FOR EACH STATEMENT EXECUTE FUNCTION doubt_facets()`);
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TRIGGER doubt_facets ON request_log_series_corrections`);
    await queryRunner.query(`DROP FUNCTION doubt_facets`);
    await queryRunner.query(`DROP TABLE request_log_facet_sums`);
    await queryRunner.query(`
      ALTER TABLE request_log_progress
        DROP COLUMN facet_id, DROP COLUMN facets_from, DROP COLUMN facets_again_at`);
  }
}
