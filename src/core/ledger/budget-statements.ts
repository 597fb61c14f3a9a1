import { BUDGET_PERIODS, type BudgetPeriod, type LimitScope } from '../../canonical/limits.js';

const columns = (make: (period: BudgetPeriod) => string): string =>
  BUDGET_PERIODS.map(make).join(', ');

/** The beginnings of the current periods, as `current`; `total` has always begun. */
const CURRENT = `
  clock AS MATERIALIZED (SELECT budget_clock() AS now),
  current AS MATERIALIZED (
    SELECT now, ${columns((period) =>
      period === 'total'
        ? `'-infinity'::timestamptz AS "total"`
        : `date_trunc('${period}', now, 'UTC') AS "${period}"`,
    )} FROM clock
  )`;

/** Those whose use is asked for: tenants, scopes and subjects, $1 to $3. */
const ASKED = `
  asked AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[]) AS asked (tenant_id, scope, subject)
  )`;

/**
 * What the requests of `lines` have cost that have ended, by the moment at which they ended, or were
 * let in, should the clock of an instance be slow: so none counts in a period before that.
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

/** What `asked` have spent in the current periods, and what their open requests have set aside. */
const USE = `
  SELECT asked.tenant_id, asked.scope, asked.subject, current.now, ${columns(
    (period) => `
    CASE WHEN kept.counted_at >= current."${period}" THEN kept."${period}" ELSE 0 END
      + coalesce(sums."${period}", 0) AS "${period}"`,
  )}, open.held, open.requests
  FROM asked CROSS JOIN current
    LEFT JOIN budget_spend AS kept USING (tenant_id, scope, subject)
    LEFT JOIN sums USING (tenant_id, scope, subject)
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(holds.amount), 0)::bigint AS held, count(*) AS requests
      FROM limit_holds AS line JOIN holds ON holds.request_id = line.request_id
      WHERE line.tenant_id = asked.tenant_id AND line.scope = asked.scope
        AND line.subject = asked.subject
    ) AS open`;

const IS_ASKED = `line.tenant_id = asked.tenant_id AND line.scope = asked.scope
      AND line.subject = asked.subject`;
const HAS_ENDED = `NOT EXISTS (SELECT FROM holds WHERE holds.request_id = line.request_id)`;
const ENDED_LONG_AGO = `opened_at < budget_clock() - interval '1 hour' AND ${HAS_ENDED}`;

/**
 * Adds up the use of the subjects $2, $3 of the tenants $1, whose accounts must be locked. What ended
 * since the last time is counted now: a settlement has nothing to do for it, whoever made it.
 */
export const COUNT_USE = {
  name: 'ledger-count-use',
  text: `
  WITH ${CURRENT}, ${ASKED}, ended AS (
    DELETE FROM limit_holds AS line USING asked WHERE ${IS_ASKED} AND ${HAS_ENDED}
    RETURNING line.*
  ), ${paidBy('ended')}, counted AS (
    INSERT INTO budget_spend AS kept (tenant_id, scope, subject, counted_at, ${columns((period) => `"${period}"`)})
    SELECT tenant_id, scope, subject, current.now, ${columns((period) => `sums."${period}"`)}
    FROM sums CROSS JOIN current
    ON CONFLICT (tenant_id, scope, subject) DO UPDATE SET
      counted_at = excluded.counted_at, ${columns(
        (period) => `
      "${period}" = excluded."${period}" + CASE
        WHEN kept.counted_at >= (SELECT "${period}" FROM current) THEN kept."${period}" ELSE 0 END`,
      )}
  ) ${USE}`,
};

/** The same without a lock and without a change, for whoever wants to see it. */
export const READ_USE = `
  WITH ${CURRENT}, ${ASKED}, ended AS (
    SELECT line.* FROM limit_holds AS line JOIN asked ON ${IS_ASKED} WHERE ${HAS_ENDED}
  ), ${paidBy('ended')} ${USE}`;

/** Notes that the requests $4 count on the limits of the subjects $2, $3 of the tenants $1. */
export const OPEN_LIMIT_HOLDS = {
  name: 'ledger-open-limit-holds',
  text: `
    INSERT INTO limit_holds (tenant_id, scope, subject, request_id)
    SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[])
    ON CONFLICT DO NOTHING`,
};

/** Up to $1 subjects with requests that ended without another since, for an hour. */
export const UNCOUNTED = `
  SELECT DISTINCT tenant_id, scope, subject FROM limit_holds AS line WHERE ${ENDED_LONG_AGO}
  LIMIT $1`;

/** Whether there are any. */
export const ARE_UNCOUNTED = `EXISTS (SELECT FROM limit_holds AS line WHERE ${ENDED_LONG_AGO})`;

/** What somebody has used, in credits. */
export interface UseRow extends Record<BudgetPeriod, number> {
  tenant_id: string;
  scope: LimitScope;
  subject: string;
  now: Date;
  /** In open requests. */
  held: number;
  /** How many are open. */
  requests: number;
}
