import { isWell, type CheckOutcome } from '../../core/credentials/account-check.js';
import type { ProviderCheck } from '../../core/configuration/provider-checks.service.js';
import { formatTable } from '../../operator/format-table.js';

const WORDS: Readonly<Record<CheckOutcome, string>> = {
  ok: 'works',
  refused: 'REFUSED',
  unreachable: 'NO ANSWER',
  unchecked: 'unchecked',
};

/** Of models that a key does not see, so many are named. */
const MAX_NAMED = 3;

/** What checks of keys have found, a line for each account, aligned. */
export function describeChecks(checks: readonly ProviderCheck[]): string[] {
  return formatTable(
    checks.map((each) => {
      const { provider, account, check } = each;
      const name = account === undefined ? provider : `${provider}@${account}`;
      return [name, WORDS[check.outcome], detailOf(each)];
    }),
  );
}

/** What a newcomer reads below the start's own lines. */
export function describeStartChecks(checks: readonly ProviderCheck[]): string {
  const lines = describeChecks(checks).map((line) => `  ${line}`);
  const isAllWell = checks.every(({ check }) => isWell(check));
  const advice = isAllWell
    ? []
    : ['  Set right what is not; `npm run gateway -- providers check` checks again.'];
  return `${['Keys, each tried by a call that costs nothing:', ...lines, ...advice].join('\n')}\n\n`;
}

function detailOf({ check, catalogue }: ProviderCheck): string {
  if (check.outcome !== 'ok' || !catalogue || catalogue.total === 0) return check.message;
  const { seen, total, missing } = catalogue;
  if (missing.length === 0) return `sees all ${total} models of the catalogue`;
  const more = missing.length > MAX_NAMED ? `, and ${missing.length - MAX_NAMED} more` : '';
  return `sees ${seen} of ${total} models of the catalogue, not ${missing.slice(0, MAX_NAMED).join(', ')}${more}`;
}
