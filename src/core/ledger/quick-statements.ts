import { holdRows, insertLogs, logRow, openHolds, writeLogs } from './ledger-statements.js';

/**
 * Holds alone do not wait for the disk (docs/decisions/0003). They are visible at once; a crash of
 * PostgreSQL may lose them, but it also interrupts their requests, or these settle without a hold.
 */
const UNWAITED = `, set_config('synchronous_commit', 'off', true)`;

/** Column with the amounts of holds with ranges. */
const GRANTS = `, (SELECT json_agg(amount ORDER BY place) FROM granted) AS granted`;

export interface GrantsRow {
  granted: readonly number[];
}

/** True once the accounts are locked, in id order; every part of a quick statement waits for it. */
const LOCKED = '(SELECT count(*) FROM locked) >= 0';

/**
 * Builds a statement that executes a group as its own transaction: all steps of `ledger-flush.ts`, for
 * the common case without decisions. It fails without effect when a hold is missing, a request already
 * has its row, a tenant has no account, or credits are insufficient (`accounts_held_within_balance`).
 *
 * $1 are the group's accounts, with the credits of the holds to open; $2 the holds to end and $3 the log
 * rows to write; then the holds to open and their instance.
 *
 * With ranges, every hold gets its share of what the previous ones leave (`shareOf`), and the statement
 * returns the amounts in order. $1 then contains no credits.
 */
function quickFlush(hasSettlements: boolean, holdKind?: 'fixed' | 'ranges') {
  const hasHolds = holdKind !== undefined;
  const hasRanges = holdKind === 'ranges';
  const [holds, instance] = hasSettlements ? ['$4', '$5'] : ['$2', '$3'];
  const settled = `ended AS (
      DELETE FROM holds
      WHERE request_id = ANY ($2::uuid[]) AND tenant_id IN (SELECT tenant_id FROM group_accounts)
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
  const claimed = hasRanges ? 'coalesce(claimed.credits, 0)' : 'group_accounts.credits';
  const joinClaimed = hasRanges
    ? 'LEFT JOIN claimed ON claimed.tenant_id = group_accounts.tenant_id'
    : '';
  const changed = hasSettlements
    ? `UPDATE accounts SET
        balance = accounts.balance - coalesce(totals.cost, 0),
        held = accounts.held - coalesce(freed.credits, 0) + ${claimed},
        spent = accounts.spent + coalesce(totals.cost, 0),
        request_count = accounts.request_count + coalesce(totals.requests, 0)
      FROM group_accounts
        LEFT JOIN totals ON totals.tenant_id = group_accounts.tenant_id
        LEFT JOIN freed ON freed.tenant_id = group_accounts.tenant_id
        ${joinClaimed}`
    : `UPDATE accounts SET held = accounts.held + ${claimed} FROM group_accounts ${joinClaimed}`;
  const complete = [
    '(SELECT count(*) FROM changed) = (SELECT count(*) FROM group_accounts)',
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
    WITH group_accounts AS MATERIALIZED (
      SELECT tenant_id, credits
      FROM json_to_recordset($1) AS group_accounts (tenant_id uuid, credits bigint)
    ), locked AS MATERIALIZED (
      SELECT tenant_id, balance, held FROM accounts WHERE tenant_id IN (SELECT tenant_id FROM group_accounts)
      ORDER BY tenant_id
      FOR UPDATE
    ), ${hasSettlements ? settled : ''} ${hasHolds ? opened : ''} changed AS (
      ${changed}
      WHERE accounts.tenant_id = group_accounts.tenant_id AND ${LOCKED}
      RETURNING accounts.tenant_id
    )
    -- Division by zero rolls the statement back when it was not the common case.
    SELECT 1 / (${complete.join('\n      AND ')})::integer${hasSettlements ? '' : UNWAITED}${hasRanges ? GRANTS : ''}`,
  };
}

/** End requests and open holds. */
export const QUICK_SETTLE_AND_HOLD = quickFlush(true, 'fixed');
export const QUICK_SETTLE = quickFlush(true);
export const QUICK_HOLD = quickFlush(false, 'fixed');
/** The same when some holds have a range. */
export const QUICK_SETTLE_AND_RANGES = quickFlush(true, 'ranges');
export const QUICK_RANGES = quickFlush(false, 'ranges');

/**
 * Executes the most common group, a single hold, 40 % cheaper than the statements above (decision 3):
 * without grouping, and with the account locked by its own row. Fails in the same cases.
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
 * Executes a group of one settlement. Ends the request $2 of the account $3 at a charge of $4 credits: its
 * hold, its log row $1, and the counters of its key $5, last used at $6. Fails on an account's first
 * request of a month.
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
