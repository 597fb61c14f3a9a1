import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Sums over the request log, so that counts and reports don't read millions of rows. They cover
 * all rows up to `rolled_up_id`; readers add the few rows after it. Keys with external text are
 * unique by hash, since index entries are limited in size.
 */
export class CreateRequestLogRollUps1764100000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // swept_before: older rows are hidden, whether or not they are deleted yet.
    await queryRunner.query(`
      CREATE TABLE request_log_progress (
        is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
        rolled_up_id bigint NOT NULL DEFAULT 0,
        swept_before timestamptz NOT NULL DEFAULT 'epoch'
      )`);
    await queryRunner.query(`INSERT INTO request_log_progress DEFAULT VALUES`);

    // Number of rows that match a filter in an hour, with the first and last timestamp.
    await queryRunner.query(`
      CREATE TABLE request_log_counts (
        tenant_id uuid NOT NULL,
        hour timestamptz NOT NULL,
        api_key_id uuid NOT NULL,
        status text NOT NULL,
        model text NOT NULL,
        requests bigint NOT NULL,
        first_created_at timestamptz NOT NULL,
        last_created_at timestamptz NOT NULL
      )`);
    await queryRunner.query(
      `CREATE UNIQUE INDEX request_log_counts_key
         ON request_log_counts (tenant_id, hour, api_key_id, status, md5(model))`,
    );

    // One row per value of a dimension in each hour and day (UTC). latencies[i + 1] counts the
    // requests in bucket i of the latency histogram.
    await queryRunner.query(`
      CREATE TABLE request_log_roll_ups (
        tenant_id uuid NOT NULL,
        dimension text NOT NULL CHECK (
          dimension IN ('all', 'model', 'provider', 'api_key', 'status')
        ),
        grain text NOT NULL CHECK (grain IN ('hour', 'day')),
        period timestamptz NOT NULL,
        value text NOT NULL,
        requests bigint NOT NULL,
        errors bigint NOT NULL,
        prompt_tokens bigint NOT NULL,
        completion_tokens bigint NOT NULL,
        cost bigint NOT NULL,
        latencies integer[] NOT NULL
      )`);
    await queryRunner.query(
      `CREATE UNIQUE INDEX request_log_roll_ups_key
         ON request_log_roll_ups (tenant_id, dimension, grain, period, md5(value))`,
    );

    // Corrections of counted rows: the old values with -1, the new ones with +1.
    await queryRunner.query(`
      CREATE TABLE request_log_corrections (
        sign integer NOT NULL CHECK (sign IN (-1, 1)),
        tenant_id uuid NOT NULL,
        api_key_id uuid NOT NULL,
        model text NOT NULL,
        provider text NOT NULL,
        status text NOT NULL,
        prompt_tokens integer NOT NULL,
        completion_tokens integer NOT NULL,
        cost bigint NOT NULL,
        latency_ms integer NOT NULL,
        created_at timestamptz NOT NULL
      )`);
    // The lock prevents counting the row between this check and the commit.
    await queryRunner.query(`
      CREATE FUNCTION correct_request_log_roll_ups() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE
        rolled_up bigint;
      BEGIN
        SELECT rolled_up_id INTO rolled_up FROM request_log_progress FOR SHARE;
        IF OLD.id <= rolled_up THEN
          INSERT INTO request_log_corrections VALUES
            (-1, OLD.tenant_id, OLD.api_key_id, OLD.model, OLD.provider, OLD.status,
             OLD.prompt_tokens, OLD.completion_tokens, OLD.cost, OLD.latency_ms, OLD.created_at),
            (1, NEW.tenant_id, NEW.api_key_id, NEW.model, NEW.provider, NEW.status,
             NEW.prompt_tokens, NEW.completion_tokens, NEW.cost, NEW.latency_ms, NEW.created_at);
        END IF;
        RETURN NULL;
      END $$`);
    await queryRunner.query(`
      CREATE TRIGGER request_logs_correct_roll_ups
        AFTER UPDATE ON request_logs
        FOR EACH ROW EXECUTE FUNCTION correct_request_log_roll_ups()`);

    await queryRunner.query(`
      CREATE FUNCTION count_latency(histogram integer[], bucket integer, requests bigint)
      RETURNS integer[] LANGUAGE plpgsql IMMUTABLE AS $$
      BEGIN
        histogram[bucket + 1] := coalesce(histogram[bucket + 1], 0) + requests;
        RETURN histogram;
      END $$`);
    await queryRunner.query(`
      CREATE AGGREGATE latency_histogram (integer, bigint) (
        SFUNC = count_latency, STYPE = integer[], INITCOND = '{0}'
      )`);
    await queryRunner.query(`
      CREATE FUNCTION add_latencies(histogram integer[], other integer[])
      RETURNS integer[] LANGUAGE sql IMMUTABLE STRICT AS $$
        SELECT ARRAY(
          SELECT coalesce(mine, 0) + coalesce(others, 0)
          FROM unnest(histogram, other) AS counts (mine, others)
        )
      $$`);
    // Strict and without an initial value: a single histogram is returned as it is.
    await queryRunner.query(`
      CREATE AGGREGATE sum_latencies (integer[]) (SFUNC = add_latencies, STYPE = integer[])`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP AGGREGATE sum_latencies (integer[])`);
    await queryRunner.query(`DROP FUNCTION add_latencies`);
    await queryRunner.query(`DROP AGGREGATE latency_histogram (integer, bigint)`);
    await queryRunner.query(`DROP FUNCTION count_latency`);
    await queryRunner.query(`DROP TRIGGER request_logs_correct_roll_ups ON request_logs`);
    await queryRunner.query(`DROP FUNCTION correct_request_log_roll_ups`);
    await queryRunner.query(`DROP TABLE request_log_corrections`);
    await queryRunner.query(`DROP TABLE request_log_roll_ups`);
    await queryRunner.query(`DROP TABLE request_log_counts`);
    await queryRunner.query(`DROP TABLE request_log_progress`);
  }
}
