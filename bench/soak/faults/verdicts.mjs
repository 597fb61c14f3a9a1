/**
 * What every caller saw, held against what was charged. The rules are those of docs/ledger.md, "Who pays
 * for what": a whole answer that was delivered costs what its vendor says, one that failed nothing, and
 * one that its caller left no more than its hold.
 */

/** So long an answer waits for its settlement; then it ends, and the settlement stays in memory. */
const PATIENCE_MS = 2_000;
/** A store that is back has to be found again, on a busy machine. */
const SLACK_MS = 3_000;

/**
 * @typedef {object} Seen what a caller saw of one call
 * @property {'delivered' | 'refused' | 'told' | 'broken' | 'left' | 'background' | 'wrong'} verdict
 *   a whole answer; an error instead of one; a stream that said that it failed; a connection that broke;
 *   the caller went first; a response in the background; an answer that is not the right one
 * @property {string | undefined} requestId where a head arrived
 * @property {number} cost what the vendor's figures come to
 * @property {number} maxCost what is held for it at the most
 * @property {string} instance that was asked
 * @property {number} startedAtMs @property {number} endedAtMs
 * @property {string | undefined} fault in words
 * @property {string | undefined} status of a response in the background in the end
 */

/**
 * @param seen a call
 * @param row of the request log; undefined where there is none
 * @param history `killsOf(instance)`: moments; `outages`: from when to when the database took nothing
 * @returns `violation` in words; `unwritten` where a charge was lost by the rules: the process was killed
 *   while its settlement waited for a database that was away
 */
export function judge(seen, row, history) {
  const { verdict } = seen;
  const said = `${seen.requestId ?? 'no id'} (${seen.alias}, ${verdict})`;
  const violation = (words) => ({ violation: `${said} ${words}` });
  if (verdict === 'wrong') return violation(`got another answer than its own: ${seen.fault}`);
  const cost = row?.cost ?? 0;
  if (row && row.shortfall !== 0) return violation(`has a shortfall of ${row.shortfall}`);
  if (verdict === 'delivered') {
    if (row?.outcome === 'completed' && cost === seen.cost) return {};
    const isLost = row === undefined || (row.outcome === 'crashed' && cost === 0);
    if (isLost && isUnwritten(seen, history)) return { unwritten: true };
    return violation(`was delivered and ${tell(row)}, not completed for ${seen.cost}`);
  }
  if (cost === 0) return findFreeFault(seen, row, violation);
  switch (verdict) {
    case 'left':
      return findEstimateFault(seen, row, violation);
    case 'told':
      if (row.outcome === 'timeout') return findEstimateFault(seen, row, violation);
      return violation(`failed and ${tell(row)}`);
    case 'broken':
      if (!wasKilled(seen, history)) return violation(`broke off and ${tell(row)}`);
      if (row.outcome === 'completed' && cost === seen.cost) return {};
      // For all that the process knew before it died, its caller had gone.
      if (row.outcome === 'cancelled') return findEstimateFault(seen, row, violation);
      return violation(`broke off with its process and ${tell(row)}`);
    case 'background':
      if (seen.status === 'completed' && cost === seen.cost) return {};
      return violation(`is ${seen.status} and ${tell(row)}, not ${seen.cost}`);
    default:
      return violation(`was refused with ${seen.fault} and ${tell(row)}`);
  }
}

/**
 * Rows of which no caller knows the id: of calls whose head did not arrive.
 *
 * @param rows that belong to no id @param calls without an id, of the same tenant and model
 * @returns violations
 */
export function judgeUnknown(rows, calls) {
  const costs = new Map();
  for (const { cost } of calls) costs.set(cost, (costs.get(cost) ?? 0) + 1);
  const violations = [];
  if (rows.length > calls.length) {
    violations.push(`${rows.length} rows of ${rows[0].model} are of ${calls.length} calls`);
  }
  for (const row of rows) {
    if (row.cost === 0) continue;
    const most = Math.max(0, ...calls.map(({ maxCost }) => maxCost));
    const left = costs.get(row.cost) ?? 0;
    const isExact = row.usage_source === 'upstream' && left > 0;
    if (isExact) costs.set(row.cost, left - 1);
    else if (row.usage_source !== 'estimated' || row.cost > most) {
      violations.push(`${row.request_id} (${row.model}) was charged ${row.cost} for no known call`);
    }
  }
  return violations;
}

function findFreeFault(seen, row, violation) {
  if (seen.verdict !== 'background') return {};
  if (seen.status === 'completed') return violation(`was completed and ${tell(row)}`);
  if (seen.status === 'failed' || seen.status === 'cancelled') return {};
  return violation(`was accepted and is ${seen.status} in the end`);
}

function findEstimateFault(seen, row, violation) {
  if (row.usage_source === 'upstream') {
    return row.cost === seen.cost ? {} : violation(`${tell(row)}, not ${seen.cost}`);
  }
  return row.cost <= seen.maxCost ? {} : violation(`${tell(row)}, above ${seen.maxCost}`);
}

function wasKilled({ instance, startedAtMs, endedAtMs }, { killsOf }) {
  return killsOf(instance).some((ms) => ms >= startedAtMs && ms <= endedAtMs + SLACK_MS);
}

function isUnwritten({ instance, endedAtMs }, { killsOf, outages }) {
  return killsOf(instance).some((killedAtMs) => {
    if (killedAtMs < endedAtMs - SLACK_MS) return false;
    return outages.some(
      ({ fromMs, untilMs }) =>
        fromMs <= endedAtMs &&
        untilMs + SLACK_MS >= endedAtMs - PATIENCE_MS &&
        untilMs + SLACK_MS >= killedAtMs,
    );
  });
}

function tell(row) {
  if (row === undefined) return 'is not in the log';
  return `is ${row.outcome} for ${row.cost} (${row.usage_source})`;
}
