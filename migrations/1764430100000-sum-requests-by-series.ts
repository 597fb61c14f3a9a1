import type { MigrationInterface, QueryRunner } from 'typeorm';
import { shortly } from './short-locks.js';

const SUMS = `
  requests bigint NOT NULL,
  errors bigint NOT NULL,
  prompt_tokens bigint NOT NULL,
  completion_tokens bigint NOT NULL,
  cost bigint NOT NULL,
  shortfall bigint NOT NULL,
  vendor_cost bigint NOT NULL,
  latency_ms bigint NOT NULL`;

/** Columns that a correction keeps of the old and the new row; see `SERIES_COLUMNS`. */
const CORRECTED = `tenant_id, api_key_id, endpoint, model, provider, status, tags, end_user, prompt_tokens,
  completion_tokens, cost, shortfall, vendor_cost, latency_ms, created_at`;

const formOf = (row: string): string => CORRECTED.replace(/\w+/g, (column) => `${row}.${column}`);

const OLDER_FUNCTION = `
  CREATE OR REPLACE FUNCTION correct_request_log_roll_ups() RETURNS trigger LANGUAGE plpgsql AS $$
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
  END $$`;

/**
 * Sums requests by series: the same key, endpoint, model, provider, status, tags and, if any, end user.
 * A series belongs to a month and has the sums of that month; its days and hours have their own rows.
 * Groups and filters add series up (docs/decisions/0054). The service adds older rows in the
 * background.
 */
export class SumRequestsBySeries1764430100000 implements MigrationInterface {
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await shortly(queryRunner, async () => {
      await queryRunner.query(
        `ALTER TABLE request_log_progress ADD COLUMN series_id bigint NOT NULL DEFAULT 0`,
      );
      // kind: requests without an end user (none); with one, in total (any) and individually (each).
      // In rows with is_rest, NULL means unknown.
      await queryRunner.query(`
        CREATE TABLE request_log_series (
          id uuid PRIMARY KEY,
          tenant_id uuid NOT NULL,
          month timestamptz NOT NULL,
          kind text NOT NULL CHECK (kind IN ('none', 'any', 'each')),
          api_key_id uuid,
          endpoint text,
          model text,
          provider text,
          status text,
          tags jsonb,
          end_user text,
          is_rest boolean NOT NULL,
          ${SUMS}
        ) WITH (fillfactor = 80)`);
      await queryRunner.query(
        `CREATE INDEX request_log_series_place ON request_log_series (tenant_id, kind, month)`,
      );
      await queryRunner.query(`
        CREATE TABLE request_log_series_sums (
          tenant_id uuid NOT NULL,
          kind text NOT NULL,
          grain text NOT NULL CHECK (grain IN ('hour', 'day')),
          period timestamptz NOT NULL,
          series uuid NOT NULL,
          ${SUMS},
          PRIMARY KEY (tenant_id, kind, grain, period, series)
        ) WITH (fillfactor = 80)`);
      await queryRunner.query(`
        CREATE TABLE request_log_series_corrections (
          sign integer NOT NULL CHECK (sign IN (-1, 1)),
          tenant_id uuid NOT NULL,
          api_key_id uuid NOT NULL,
          endpoint text NOT NULL,
          model text NOT NULL,
          provider text NOT NULL,
          status text NOT NULL,
          tags jsonb,
          end_user text,
          prompt_tokens integer NOT NULL,
          completion_tokens integer NOT NULL,
          cost bigint NOT NULL,
          shortfall bigint NOT NULL,
          vendor_cost bigint,
          latency_ms integer NOT NULL,
          created_at timestamptz NOT NULL
        )`);
      // The lock prevents counting the row between this check and the commit.
      await queryRunner.query(`
        CREATE OR REPLACE FUNCTION correct_request_log_roll_ups() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE
          progress request_log_progress;
        BEGIN
          -- What its caller called it has been taken away, which changes no sum.
          IF (NEW.outcome, NEW.cost, NEW.latency_ms) = (OLD.outcome, OLD.cost, OLD.latency_ms) THEN
            RETURN NULL;
          END IF;
          SELECT * INTO progress FROM request_log_progress FOR SHARE;
          IF OLD.id <= progress.rolled_up_id THEN
            INSERT INTO request_log_corrections VALUES
              (-1, OLD.tenant_id, OLD.api_key_id, OLD.model, OLD.provider, OLD.status,
               OLD.prompt_tokens, OLD.completion_tokens, OLD.cost, OLD.latency_ms, OLD.created_at),
              (1, NEW.tenant_id, NEW.api_key_id, NEW.model, NEW.provider, NEW.status,
               NEW.prompt_tokens, NEW.completion_tokens, NEW.cost, NEW.latency_ms, NEW.created_at);
          END IF;
          IF OLD.id <= progress.series_id THEN
            INSERT INTO request_log_series_corrections (sign, ${CORRECTED}) VALUES
              (-1, ${formOf('OLD')}), (1, ${formOf('NEW')});
          END IF;
          RETURN NULL;
        END $$`);
    });
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(OLDER_FUNCTION);
    await queryRunner.query(`DROP TABLE request_log_series_corrections`);
    await queryRunner.query(`DROP TABLE request_log_series_sums`);
    await queryRunner.query(`DROP TABLE request_log_series`);
    await queryRunner.query(`ALTER TABLE request_log_progress DROP COLUMN series_id`);
  }
}
