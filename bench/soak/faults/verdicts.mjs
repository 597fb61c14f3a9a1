/**
 * Compares what every caller saw with what was charged. The rules are those of docs/ledger.md, "Who pays
 * for what": a delivered complete response costs what its vendor reports, a failed one nothing, and one
 * whose caller disconnected at most its hold.
 */

/** How long a response waits for its settlement before it ends with the settlement in memory. */
const PATIENCE_MS = 2_000;
/** Time to reconnect to a recovered store on a busy machine. */
const SLACK_MS = 3_000;

/**
 * @typedef {object} Seen the caller's view of one call
 * @property {'delivered' | 'refused' | 'told' | 'broken' | 'left' | 'background' | 'wrong'} verdict
 *   a complete response; an error response; a stream that reported a failure; a cut connection; the caller
 *   disconnected first; a background response; a wrong response
 * @property {string | undefined} requestId if a head arrived
 * @property {number} cost by the vendor's figures
 * @property {number} maxCost maximum hold
 * @property {string} instance that was called
 * @property {number} startedAtMs @property {number} endedAtMs
 * @property {string | undefined} fault description
 * @property {string | undefined} status final status of a background response
 */

/**
 * @param seen a call
 * @param row its request log row, if any
 * @param history `killsOf(instance)`: times; `outages`: periods without database writes
 * @returns `violation` as a description; `unwritten` for a charge lost as documented: the process was
 *   killed while its settlement waited for the database
 */
export function judge(seen, row, history) {
  const { verdict } = seen;
  const said = `${seen.requestId ?? 'no id'} (${seen.alias}, ${verdict})`;
  const violation = (words) => ({ violation: `${said} ${words}` });
  if (verdict === 'wrong') return violation(`got another request's response: ${seen.fault}`);
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
      if (!wasKilled(seen, history)) return violation(`was cut and ${tell(row)}`);
      if (row.outcome === 'completed' && cost === seen.cost) return {};
      // As far as the process knew before it died, its caller had disconnected.
      if (row.outcome === 'cancelled') return findEstimateFault(seen, row, violation);
      return violation(`was cut with its process and ${tell(row)}`);
    case 'background':
      if (seen.status === 'completed' && cost === seen.cost) return {};
      return violation(`is ${seen.status} and ${tell(row)}, not ${seen.cost}`);
    default:
      return violation(`was refused with ${seen.fault} and ${tell(row)}`);
  }
}

/**
 * Checks rows with unknown ids, of calls whose head did not arrive.
 *
 * @param rows rows without a known call @param calls calls without an id, of the same tenant and model
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
