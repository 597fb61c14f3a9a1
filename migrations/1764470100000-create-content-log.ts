import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Stored prompts and answers, partitioned by day so that old days are dropped as tables. Rows are
 * encrypted with a key per day and tenant. The service's secret encrypts these keys, so a new secret
 * requires re-encrypting only the keys.
 */
export class CreateContentLog1764470100000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE tenants
        ADD COLUMN content_log boolean,
        ADD COLUMN content_deleted_at timestamptz`);
    await queryRunner.query(`ALTER TABLE api_keys ADD COLUMN content_log boolean`);
    await queryRunner.query(`
      CREATE TABLE content_keys (
        id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL,
        day date NOT NULL,
        sealed_key bytea NOT NULL
      )`);
    await queryRunner.query(`
      CREATE TABLE request_contents (
        request_id uuid NOT NULL,
        day date NOT NULL,
        tenant_id uuid NOT NULL,
        content_key_id uuid NOT NULL,
        recorded_at timestamptz NOT NULL,
        body bytea NOT NULL,
        excerpts bytea,
        PRIMARY KEY (request_id, day)
      ) PARTITION BY RANGE (day)`);
    await queryRunner.query(
      `CREATE INDEX request_contents_tenant_id_idx ON request_contents (tenant_id)`,
    );
    // Receives days without a partition, such as those of a restored database.
    await queryRunner.query(
      `CREATE TABLE request_contents_other PARTITION OF request_contents DEFAULT`,
    );
    await queryRunner.query(`
      CREATE FUNCTION make_content_days() RETURNS integer LANGUAGE plpgsql AS $$
      DECLARE
        today date := (now() AT TIME ZONE 'UTC')::date;
        next_day date;
        part text;
        made integer := 0;
      BEGIN
        PERFORM pg_advisory_xact_lock(hashtext('model-gateway content days'));
        FOR next_day IN SELECT generate_series(today, today + 1, '1 day')::date LOOP
          part := 'request_contents' || to_char(next_day, '_YYYY_MM_DD');
          CONTINUE WHEN to_regclass(part) IS NOT NULL;
          EXECUTE format('CREATE TABLE %I (LIKE request_contents INCLUDING DEFAULTS)', part);
          LOCK TABLE ONLY request_contents, request_contents_other IN ACCESS EXCLUSIVE MODE;
          EXECUTE format(
            'WITH early AS (DELETE FROM request_contents_other WHERE day = %L RETURNING *)
             INSERT INTO %I SELECT * FROM early', next_day, part
          );
          EXECUTE format(
            'ALTER TABLE request_contents ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
            part, next_day, next_day + 1
          );
          made := made + 1;
        END LOOP;
        RETURN made;
      END $$`);
    await queryRunner.query(`
      CREATE INDEX guardrail_events_tenant_id_created_at_idx
        ON guardrail_events (tenant_id, created_at DESC, id DESC)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP INDEX guardrail_events_tenant_id_created_at_idx`);
    await queryRunner.query(`DROP FUNCTION make_content_days`);
    await queryRunner.query(`DROP TABLE request_contents`);
    await queryRunner.query(`DROP TABLE content_keys`);
    await queryRunner.query(`ALTER TABLE api_keys DROP COLUMN content_log`);
    await queryRunner.query(
      `ALTER TABLE tenants DROP COLUMN content_log, DROP COLUMN content_deleted_at`,
    );
  }
}
