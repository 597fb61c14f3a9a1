import { holdRows, insertLogs, logRow, openHolds, writeLogs } from './ledger-statements.js';

/**
 * Holds alone do not wait for the disk (docs/decisions/0003): everybody sees them at once, and one
 * that a crash of PostgreSQL loses belongs to a request which that crash broke off or which settles
 * without it.
 */
const UNWAITED = `, set_config('synchronous_commit', 'off', true)`;

/** What a quick statement answers of holds with ranges. */
const GRANTS = `, (SELECT json_agg(amount ORDER BY place) FROM granted) AS granted`;

export interface GrantsRow {
  granted: readonly number[];
}

/** What every part of a quick statement waits for: the accounts' locks, taken in id order. */
const LOCKED = '(SELECT count(*) FROM locked) >= 0';

/**
 * A group in one statement, which is a transaction by itself: everything that those of `ledger-flush.ts`
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

/**
 * A group of one, which is what most groups are, at 40 % less than the statements above (decision 3): nothing is
 * grouped or added up, and the account is locked by the change itself. They fail as those do.
 *
 * Opens the hold of the request $2 for the account $1: $3 credits, or more up to $4 (`shareOf`, base $5).
 */
export const QUICK_HOLD_ONE = {
  name: 'ledger-quick-hold-one',
  text: `
    WITH room AS MATERIALIZED (
      SELECT balance - held AS credits FROM accounts WHERE tenant_id = $1 FOR UPDATE
    ), opened AS (
      INSERT INTO holds (
        request_id, tenant_id, instance_id, amount, api_key_id, endpoint, model, provider, streamed,
        created_at
      )
      SELECT $2, $1, $6, least($4::bigint, greatest($3::bigint, least(credits, $5::bigint + credits / 32))),
        $7, $8, $9, $10, $11, $12
      FROM room
      RETURNING amount
    ), changed AS (
      UPDATE accounts SET held = held + opened.amount FROM opened WHERE tenant_id = $1 RETURNING 1
    )
    SELECT 1 / (SELECT count(*) FROM changed)::integer${UNWAITED},
      (SELECT json_build_array(amount) FROM opened) AS granted`,
};

/**
 * Ends the request $2 of the account $3 at a charge of $4 credits: its hold, its log row $1, and the counters
 * of its key $5, last used at $6. An account's first request of a month is left to the longer way.
 */
export const QUICK_SETTLE_ONE = {
  name: 'ledger-quick-settle-one',
  text: `
    WITH hold AS MATERIALIZED (
      SELECT amount FROM holds WHERE request_id = $2 AND tenant_id = $3
    ), changed AS (
      UPDATE accounts SET
        balance = balance - $4::bigint, held = held - hold.amount, spent = spent + $4,
        request_count = request_count + 1
      FROM hold WHERE tenant_id = $3
      RETURNING hold.amount
    ), ended AS (
      DELETE FROM holds USING changed WHERE request_id = $2 AND holds.amount = changed.amount RETURNING 1
    ), written AS (${insertLogs(`changed, ${logRow('$1')}`)}
      ON CONFLICT (request_id) DO NOTHING RETURNING 1
    ), entries AS (
      INSERT INTO ledger_entries (tenant_id, kind, amount, request_id)
      SELECT $3, 'charge', -$4, $2 FROM changed WHERE $4 > 0
    ), used_key AS (
      UPDATE api_keys SET
        request_count = request_count + 1, total_spend = total_spend + $4,
        last_used_at = greatest(last_used_at, $6::timestamptz)
      FROM changed WHERE id = $5
    ), counted AS (
      UPDATE account_months SET spent = spent + $4, request_count = request_count + 1
      FROM changed WHERE tenant_id = $3 AND month = date_trunc('month', now() AT TIME ZONE 'UTC')::date
      RETURNING 1
    )
    SELECT 1 / ((SELECT count(*) FROM ended) + (SELECT count(*) FROM written)
      + (SELECT count(*) FROM counted) = 3)::integer`,
};
