import { holdRows, openHolds, writeLogs } from './ledger-statements.js';

/**
 * Holds alone do not wait for the disk (docs/decisions/0010): everybody sees them at once, and one
 * that a crash of PostgreSQL loses belongs to a request which that crash broke off or which settles
 * without it.
 */
const UNWAITED = `, set_config('synchronous_commit', 'off', true)`;

/** What a quick statement answers of holds with ranges. */
const GRANTS = `, (SELECT json_agg(amount ORDER BY place) FROM granted) AS granted`;

export interface GrantsRow {
  granted: number[];
}

/** What every part of a quick statement waits for: the accounts' locks, taken in id order. */
const LOCKED = '(SELECT count(*) FROM locked) >= 0';

/**
 * A group in one statement, which is a transaction by itself: everything that the statements above
 * do in several steps, for the ordinary case that nothing has to be decided. It fails, and so does
 * nothing at all, when a hold is not there, a request has its row already, a tenant has no account,
 * or the credits do not reach (`accounts_held_within_balance`).
 *
 * The accounts $1 are those of the group, with the credits of the holds that it opens; $2 are the
 * holds to end and $3 the log rows to write, then the holds to open and their instance.
 *
 * With ranges, every hold gets its share of what those before it have left (`shareOf`), and the
 * statement answers what was granted, in the order of the holds; $1 then has no credits of holds.
 */
function quickFlush(hasSettlements: boolean, holdKind?: 'fixed' | 'ranges') {
  const hasHolds = holdKind !== undefined;
  const hasRanges = holdKind === 'ranges';
  const [holds, instance] = hasSettlements ? ['$4', '$5'] : ['$2', '$3'];
  const settled = `ended AS (
      DELETE FROM holds
      WHERE request_id = ANY ($2::uuid[]) AND tenant_id IN (SELECT tenant_id FROM asked)
        AND ${LOCKED}
      RETURNING tenant_id, amount
    ), freed AS MATERIALIZED (
      SELECT tenant_id, sum(amount)::bigint AS credits FROM ended GROUP BY tenant_id
    ), ${writeLogs('$3', LOCKED)},`;
  const shares = `room AS MATERIALIZED (
      SELECT locked.tenant_id, balance - held
        ${hasSettlements ? '+ coalesce(freed.credits, 0) - coalesce(totals.cost, 0)' : ''} AS credits
      FROM locked
        ${hasSettlements ? 'LEFT JOIN freed USING (tenant_id) LEFT JOIN totals USING (tenant_id)' : ''}
    ), shared AS (
      SELECT hold.*, room.credits AS room,
        ledger_left_after_holds(room.credits, hold.amount, hold.most, hold.base)
          OVER (PARTITION BY hold.tenant_id ORDER BY hold.place) AS left_over
      FROM ${holdRows(holds)} JOIN room ON room.tenant_id = hold.tenant_id
    ), granted AS MATERIALIZED (
      SELECT request_id, tenant_id, api_key_id, endpoint, model, provider, streamed, created_at, place,
        coalesce(lag(left_over) OVER (PARTITION BY tenant_id ORDER BY place), room) - left_over AS amount
      FROM shared
    ), claimed AS (
      SELECT tenant_id, sum(amount)::bigint AS credits FROM granted GROUP BY tenant_id
    ),`;
  const opened = `${hasRanges ? shares : ''}
    opened AS (${openHolds(hasRanges ? 'granted' : holdRows(holds), instance, LOCKED)}
    ),`;
  const claimed = hasRanges ? 'coalesce(claimed.credits, 0)' : 'asked.credits';
  const joinClaimed = hasRanges ? 'LEFT JOIN claimed ON claimed.tenant_id = asked.tenant_id' : '';
  const changed = hasSettlements
    ? `UPDATE accounts SET
        balance = accounts.balance - coalesce(totals.cost, 0),
        held = accounts.held - coalesce(freed.credits, 0) + ${claimed},
        spent = accounts.spent + coalesce(totals.cost, 0),
        request_count = accounts.request_count + coalesce(totals.requests, 0)
      FROM asked
        LEFT JOIN totals ON totals.tenant_id = asked.tenant_id
        LEFT JOIN freed ON freed.tenant_id = asked.tenant_id
        ${joinClaimed}`
    : `UPDATE accounts SET held = accounts.held + ${claimed} FROM asked ${joinClaimed}`;
  const complete = [
    '(SELECT count(*) FROM changed) = (SELECT count(*) FROM asked)',
    ...(hasSettlements
      ? [
          '(SELECT count(*) FROM ended) = cardinality($2::uuid[])',
          '(SELECT count(*) FROM written) = json_array_length($3)',
        ]
      : []),
  ];
  return {
    name: `ledger-quick${hasSettlements ? '-settle' : ''}${hasHolds ? '-hold' : ''}${hasRanges ? '-ranges' : ''}`,
    text: `
    WITH asked AS MATERIALIZED (
      SELECT tenant_id, credits
      FROM json_to_recordset($1) AS asked (tenant_id uuid, credits bigint)
    ), locked AS MATERIALIZED (
      SELECT tenant_id, balance, held FROM accounts WHERE tenant_id IN (SELECT tenant_id FROM asked)
      ORDER BY tenant_id
      FOR UPDATE
    ), ${hasSettlements ? settled : ''} ${hasHolds ? opened : ''} changed AS (
      ${changed}
      WHERE accounts.tenant_id = asked.tenant_id AND ${LOCKED}
      RETURNING accounts.tenant_id
    )
    -- Dividing by zero undoes the statement: what it found was not the ordinary case.
    SELECT 1 / (${complete.join('\n      AND ')})::integer${hasSettlements ? '' : UNWAITED}${hasRanges ? GRANTS : ''}`,
  };
}

/** Ends requests and opens holds. */
export const QUICK_SETTLE_AND_HOLD = quickFlush(true, 'fixed');
export const QUICK_SETTLE = quickFlush(true);
export const QUICK_HOLD = quickFlush(false, 'fixed');
/** The same for holds of which some have a range. */
export const QUICK_SETTLE_AND_RANGES = quickFlush(true, 'ranges');
export const QUICK_RANGES = quickFlush(false, 'ranges');
