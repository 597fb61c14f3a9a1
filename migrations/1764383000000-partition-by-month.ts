import type { MigrationInterface, QueryRunner } from 'typeorm';
import { shortly } from './short-locks.js';

/** The range of request ids of this version; a random id falls into it once in 2^32. */
const FIRST_ID = '6d6f6e74-0000-0000-0000-000000000000';
const END_OF_IDS = '6d6f6e75-0000-0000-0000-000000000000';

const OF_MONTHS = `request_id >= '${FIRST_ID}' AND request_id < '${END_OF_IDS}'`;

const TABLES = ['request_logs', 'ledger_entries'] as const;
type Table = (typeof TABLES)[number];

/** Constraints and indexes that exist under the same names on both the partitioned and the old table. */
const INDEXES: Record<Table, Record<string, string>> = {
  request_logs: {
    request_logs_request_id_key:
      'ALTER TABLE request_logs ADD CONSTRAINT request_logs_request_id_key UNIQUE (request_id)',
    request_logs_tenant_id_created_at_idx: `CREATE INDEX request_logs_tenant_id_created_at_idx
      ON request_logs (tenant_id, created_at DESC, id DESC)`,
  },
  ledger_entries: {
    ledger_entries_request_id_kind_key: `CREATE UNIQUE INDEX ledger_entries_request_id_kind_key
      ON ledger_entries (request_id, kind) WHERE request_id IS NOT NULL`,
    ledger_entries_tenant_id_created_at_idx: `CREATE INDEX ledger_entries_tenant_id_created_at_idx
      ON ledger_entries (tenant_id, created_at, id)`,
    ledger_entries_rare_idx: `CREATE INDEX ledger_entries_rare_idx
      ON ledger_entries (tenant_id, created_at) INCLUDE (kind, amount) WHERE kind <> 'charge'`,
  },
};

/**
 * Partitions the log and the ledger by the month in a request's id (docs/decisions/0038). The
 * existing tables become partitions, for older requests and for entries without a request. Copies
 * nothing and waits at most 200 ms for any lock that blocks others, so requests of the previous
 * version continue.
 *
 * Each step checks whether it is done, so that an interrupted migration can run again.
 */
export class PartitionByMonth1764383000000 implements MigrationInterface {
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await makeFunctions(queryRunner);
    await shortly(queryRunner, () =>
      queryRunner.query(
        `ALTER TABLE request_logs ADD COLUMN IF NOT EXISTS replaces_crash boolean NOT NULL DEFAULT false`,
      ),
    );
    // A partition must have all constraints of its table. Uses no lock that blocks requests.
    await validate(queryRunner, 'request_logs', 'request_logs_outcome_check');
    if (await isPartitioned(queryRunner)) return;
    for (const table of TABLES) await reserveIds(queryRunner, table);
    await shortly(queryRunner, async () => {
      for (const table of TABLES) await partition(queryRunner, table);
      await queryRunner.query(`SELECT make_month_partitions()`);
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of TABLES) await unite(queryRunner, table);
    await queryRunner.query(`DROP FUNCTION make_month_partitions`);
    await queryRunner.query(`DROP FUNCTION first_request_id`);
    await queryRunner.query(`ALTER TABLE request_logs DROP COLUMN replaces_crash`);
    await queryRunner.query(`
      ALTER TABLE request_logs
        DROP CONSTRAINT request_logs_outcome_check,
        ADD CONSTRAINT request_logs_outcome_check CHECK (
          outcome IN ('completed', 'failed', 'cancelled', 'timeout', 'crashed', 'refused')
        ) NOT VALID`);
  }
}

async function makeFunctions(queryRunner: QueryRunner): Promise<void> {
  // 'mont', then ten bits of months since 2020: see mintRequestId.
  await queryRunner.query(`
    CREATE OR REPLACE FUNCTION first_request_id(month date) RETURNS uuid
    LANGUAGE sql IMMUTABLE AS $$
      SELECT (
        '6d6f6e74-' || lpad(to_hex(64 * (
          (extract(year FROM month)::integer - 2020) * 12 + extract(month FROM month)::integer - 1
        )), 4, '0') || '-0000-0000-000000000000'
      )::uuid
    $$`);
  // A partition created late receives the rows that arrived for its month. The lock on the months
  // prevents cached plans without the new partition.
  await queryRunner.query(`
    CREATE OR REPLACE FUNCTION make_month_partitions(
      first_month date DEFAULT (now() AT TIME ZONE 'UTC')::date,
      last_month date DEFAULT ((now() AT TIME ZONE 'UTC') + interval '3 months')::date
    ) RETURNS integer LANGUAGE plpgsql AS $$
    DECLARE
      base text;
      month date;
      part text;
      lower_bound uuid;
      upper_bound uuid;
      has_early boolean;
      made integer := 0;
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtext('model-gateway month partitions'));
      FOREACH base IN ARRAY ARRAY['request_logs', 'ledger_entries'] LOOP
        FOR month IN
          SELECT generate_series(date_trunc('month', first_month), last_month, '1 month')::date
        LOOP
          part := base || to_char(month, '_YYYY_MM');
          CONTINUE WHEN to_regclass(part) IS NOT NULL;
          lower_bound := first_request_id(month);
          upper_bound := first_request_id((month + interval '1 month')::date);
          EXECUTE format(
            'CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part, base || '_months'
          );
          IF base = 'request_logs' THEN
            EXECUTE format('CREATE INDEX %I ON %I (id)', part || '_id_idx', part);
          ELSE
            EXECUTE format(
              'CREATE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %I
                 FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change()', part
            );
          END IF;
          EXECUTE format('LOCK TABLE ONLY %I, %I IN ACCESS EXCLUSIVE MODE', base || '_months', base || '_other');
          EXECUTE format(
            'SELECT EXISTS (SELECT FROM %I WHERE request_id >= $1 AND request_id < $2)', base || '_other'
          ) INTO has_early USING lower_bound, upper_bound;
          IF has_early THEN
            EXECUTE format('ALTER TABLE %I DISABLE TRIGGER USER', base || '_other');
            EXECUTE format(
              'WITH early AS (DELETE FROM %I WHERE request_id >= $1 AND request_id < $2 RETURNING *)
               INSERT INTO %I SELECT * FROM early', base || '_other', part
            ) USING lower_bound, upper_bound;
            EXECUTE format('ALTER TABLE %I ENABLE TRIGGER USER', base || '_other');
          END IF;
          EXECUTE format(
            'ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
            base || '_months', part, lower_bound, upper_bound
          );
          made := made + 1;
        END LOOP;
      END LOOP;
      RETURN made;
    END $$`);
}

/**
 * Proves, while others read and write, that no old row has an id with a month. If one has, this
 * version was installed and reverted: then the rows move while requests wait, and need no proof.
 */
async function reserveIds(queryRunner: QueryRunner, table: Table): Promise<void> {
  const name = `${table}_before_months_check`;
  const [found] = await ask<{ ids: boolean; rule: boolean }>(
    queryRunner,
    `SELECT EXISTS (SELECT FROM ${table} WHERE ${OF_MONTHS}) AS ids,
       EXISTS (
         SELECT FROM pg_constraint WHERE conrelid = '${table}'::regclass AND conname = '${name}'
       ) AS rule`,
  );
  if (found!.ids) return;
  if (!found!.rule) {
    await shortly(queryRunner, () =>
      queryRunner.query(
        `ALTER TABLE ${table} ADD CONSTRAINT ${name} CHECK (NOT (
           request_id IS NOT NULL AND ${OF_MONTHS}
         )) NOT VALID`,
      ),
    );
  }
  await validate(queryRunner, table, name);
}

async function validate(queryRunner: QueryRunner, table: Table, name: string): Promise<void> {
  // Reads the whole table under a lock that blocks only schema changes.
  await queryRunner.query(`ALTER TABLE ${table} VALIDATE CONSTRAINT ${name}`);
}

/** Replaces a table with a partitioned one, of which it becomes a partition. */
async function partition(queryRunner: QueryRunner, table: Table): Promise<void> {
  const before = `${table}_before_months`;
  await queryRunner.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  await queryRunner.query(`ALTER TABLE ${table} RENAME TO ${before}`);
  const indexes = INDEXES[table];
  for (const name of [...Object.keys(indexes), `${table}_pkey`]) {
    await queryRunner.query(`ALTER INDEX ${name} RENAME TO ${name.replace(table, before)}`);
  }
  const nextId = await nextIdOf(queryRunner, table);
  await queryRunner.query(`ALTER TABLE ${before} ALTER COLUMN id DROP IDENTITY`);

  // After dropping a column, the column positions would differ from the partitions', and PostgreSQL
  // would convert each row. It then cannot return the xmax of an inserted row, which the previous
  // version reads.
  await queryRunner.query(
    `CREATE TABLE ${table} (place integer, LIKE ${before} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)
       PARTITION BY RANGE (request_id)`,
  );
  await queryRunner.query(
    `ALTER TABLE ${table} DROP COLUMN place, DROP CONSTRAINT IF EXISTS ${before}_check,
       ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (START WITH ${nextId})`,
  );
  for (const statement of Object.values(indexes)) await queryRunner.query(statement);
  // Row triggers belong to the partitioned table; statement triggers to each table that statements name.
  if (table === 'ledger_entries') await keepAppendOnly(queryRunner, table);
  else {
    await queryRunner.query(`DROP TRIGGER request_logs_correct_roll_ups ON ${before}`);
    await correctRollUps(queryRunner);
  }
  await queryRunner.query(
    `CREATE TABLE ${table}_months PARTITION OF ${table}
       FOR VALUES FROM ('${FIRST_ID}') TO ('${END_OF_IDS}') PARTITION BY RANGE (request_id)`,
  );
  // Receives months without a partition, so that no request fails.
  await queryRunner.query(`CREATE TABLE ${table}_other PARTITION OF ${table}_months DEFAULT`);
  if (table === 'request_logs') {
    await queryRunner.query(`CREATE INDEX ${table}_other_id_idx ON ${table}_other (id)`);
  } else {
    await keepAppendOnly(queryRunner, `${table}_other`);
  }

  await queryRunner.query(`ALTER TABLE ${before} DISABLE TRIGGER USER`);
  await queryRunner.query(
    `WITH moved AS (DELETE FROM ${before} WHERE ${OF_MONTHS} RETURNING *)
     INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM moved`,
  );
  await queryRunner.query(`ALTER TABLE ${before} ENABLE TRIGGER USER`);
  await queryRunner.query(`ALTER TABLE ${table} ATTACH PARTITION ${before} DEFAULT`);
  await queryRunner.query(`ALTER TABLE ${before} DROP CONSTRAINT IF EXISTS ${before}_check`);
}

async function correctRollUps(queryRunner: QueryRunner): Promise<void> {
  await queryRunner.query(`
    CREATE TRIGGER request_logs_correct_roll_ups
      AFTER UPDATE ON request_logs
      FOR EACH ROW EXECUTE FUNCTION correct_request_log_roll_ups()`);
}

async function keepAppendOnly(queryRunner: QueryRunner, table: string): Promise<void> {
  await queryRunner.query(`
    CREATE TRIGGER ledger_entries_append_only
      BEFORE UPDATE OR DELETE OR TRUNCATE ON ${table}
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_ledger_change()`);
}

/** Restores the single table, with the rows of all months. */
async function unite(queryRunner: QueryRunner, table: Table): Promise<void> {
  const before = `${table}_before_months`;
  await queryRunner.query(`ALTER TABLE ${table} DETACH PARTITION ${before}`);
  await queryRunner.query(`INSERT INTO ${before} SELECT * FROM ${table}`);
  const nextId = await nextIdOf(queryRunner, table);
  await queryRunner.query(`DROP TABLE ${table}`);
  await queryRunner.query(`ALTER TABLE ${before} RENAME TO ${table}`);
  for (const name of [...Object.keys(INDEXES[table]), `${table}_pkey`]) {
    await queryRunner.query(`ALTER INDEX ${name.replace(table, before)} RENAME TO ${name}`);
  }
  await queryRunner.query(
    `ALTER TABLE ${table} ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (START WITH ${nextId})`,
  );
  if (table === 'request_logs') await correctRollUps(queryRunner);
}

async function nextIdOf(queryRunner: QueryRunner, table: Table): Promise<string> {
  const [row] = await ask<{ next: string }>(
    queryRunner,
    `SELECT (last_value + is_called::integer)::text AS next FROM ${table}_id_seq`,
  );
  return row!.next;
}

function ask<Row>(queryRunner: QueryRunner, sql: string): Promise<Row[]> {
  return queryRunner.manager.query<Row[]>(sql);
}

async function isPartitioned(queryRunner: QueryRunner): Promise<boolean> {
  const [row] = await ask<{ found: boolean }>(
    queryRunner,
    `SELECT to_regclass('request_logs_before_months') IS NOT NULL AS found`,
  );
  return row!.found;
}
