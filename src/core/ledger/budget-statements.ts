import { BUDGET_PERIODS, type BudgetPeriod, type LimitScope } from '../../canonical/limits.js';

const columns = (make: (period: BudgetPeriod) => string): string =>
  BUDGET_PERIODS.map(make).join(', ');

/** Selects the starts of the current periods as `current`; `total` has always started. */
const CURRENT = `
  clock AS MATERIALIZED (SELECT budget_clock() AS now),
  current AS MATERIALIZED (
    SELECT now, ${columns((period) =>
      period === 'total'
        ? `'-infinity'::timestamptz AS "total"`
        : `date_trunc('${period}', now, 'UTC') AS "${period}"`,
    )} FROM clock
  )`;

/** The tenants, scopes and subjects in question, $1 to $3. */
const SUBJECTS = `
  subjects AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[]) AS subjects (tenant_id, scope, subject)
  )`;

/**
 * Selects the cost of ended requests in `lines` by when they ended, or were admitted if an
 * instance's clock is slow: no request counts in a period before its admission.
 */
const paidBy = (lines: string): string => `
  paid AS (
    SELECT line.tenant_id, line.scope, line.subject, log.cost,
      greatest(line.opened_at, log.created_at + log.latency_ms * interval '1 ms') AS paid_at
    FROM ${lines} AS line JOIN request_logs AS log ON log.request_id = line.request_id
    WHERE log.cost > 0
  ), sums AS MATERIALIZED (
    SELECT tenant_id, scope, subject, ${columns(
      (period) =>
        `coalesce(sum(cost) FILTER (WHERE paid_at >= current."${period}"), 0)::bigint AS "${period}"`,
    )}
    FROM paid CROSS JOIN current GROUP BY tenant_id, scope, subject
  )`;

/**
 * Selects spending of `subjects` in the current periods, and the reservations of their open requests.
 */
const USE = `
  SELECT subjects.tenant_id, subjects.scope, subjects.subject, current.now, ${columns(
    (period) => `
    CASE WHEN stored.counted_at >= current."${period}" THEN stored."${period}" ELSE 0 END
      + coalesce(sums."${period}", 0) AS "${period}"`,
  )}, open.held, open.requests
  FROM subjects CROSS JOIN current
    LEFT JOIN budget_spend AS stored USING (tenant_id, scope, subject)
    LEFT JOIN sums USING (tenant_id, scope, subject)
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(holds.amount), 0)::bigint AS held, count(*) AS requests
      FROM limit_holds AS line JOIN holds ON holds.request_id = line.request_id
      WHERE line.tenant_id = subjects.tenant_id AND line.scope = subjects.scope
        AND line.subject = subjects.subject
    ) AS open`;

const IS_SUBJECT = `line.tenant_id = subjects.tenant_id AND line.scope = subjects.scope
      AND line.subject = subjects.subject`;
const HAS_ENDED = `NOT EXISTS (SELECT FROM holds WHERE holds.request_id = line.request_id)`;
const ENDED_LONG_AGO = `opened_at < budget_clock() - interval '1 hour' AND ${HAS_ENDED}`;

/**
 * Updates the usage of the subjects $2, $3 of the tenants $1, whose accounts must be locked. Counts
 * requests that ended since the last time, so that settlements need not.
 */
export const COUNT_USE = {
  name: 'ledger-count-use',
  text: `
  WITH ${CURRENT}, ${SUBJECTS}, ended AS (
    DELETE FROM limit_holds AS line USING subjects WHERE ${IS_SUBJECT} AND ${HAS_ENDED}
    RETURNING line.*
  ), ${paidBy('ended')}, counted AS (
    INSERT INTO budget_spend AS stored (tenant_id, scope, subject, counted_at, ${columns((period) => `"${period}"`)})
    SELECT tenant_id, scope, subject, current.now, ${columns((period) => `sums."${period}"`)}
    FROM sums CROSS JOIN current
    ON CONFLICT (tenant_id, scope, subject) DO UPDATE SET
      counted_at = excluded.counted_at, ${columns(
        (period) => `
      "${period}" = excluded."${period}" + CASE
        WHEN stored.counted_at >= (SELECT "${period}" FROM current) THEN stored."${period}" ELSE 0 END`,
      )}
  ) ${USE}`,
};

/** Reads the usage without locks or changes. */
export const READ_USE = `
  WITH ${CURRENT}, ${SUBJECTS}, ended AS (
    SELECT line.* FROM limit_holds AS line JOIN subjects ON ${IS_SUBJECT} WHERE ${HAS_ENDED}
  ), ${paidBy('ended')} ${USE}`;

/**
 * Records that the requests $4 count against the limits of the subjects $2, $3 of the tenants $1.
 */
export const OPEN_LIMIT_HOLDS = {
  name: 'ledger-open-limit-holds',
  text: `
    INSERT INTO limit_holds (tenant_id, scope, subject, request_id)
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[])
    ON CONFLICT DO NOTHING`,
};

/** Selects up to $1 subjects with uncounted requests that ended over an hour ago. */
export const UNCOUNTED = `
  SELECT DISTINCT tenant_id, scope, subject FROM limit_holds AS line WHERE ${ENDED_LONG_AGO}
  LIMIT $1`;

export const ARE_UNCOUNTED = `EXISTS (SELECT FROM limit_holds AS line WHERE ${ENDED_LONG_AGO})`;

/** A subject's usage in credits. */
export interface UseRow extends Record<BudgetPeriod, number> {
  tenant_id: string;
  scope: LimitScope;
  subject: string;
  now: Date;
  /** In open requests. */
  held: number;
  /** Number of open requests. */
  requests: number;
}
