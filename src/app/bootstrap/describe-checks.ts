import { isWell, type CheckOutcome } from '../../core/credentials/account-check.js';
import type { ProviderCheck } from '../../core/configuration/provider-checks.service.js';
import { formatTable } from '../../operator/format-table.js';

const WORDS: Readonly<Record<CheckOutcome, string>> = {
  ok: 'works',
  refused: 'REFUSED',
  unreachable: 'NO ANSWER',
  unchecked: 'unchecked',
};

/** How many missing models are named. */
const MAX_NAMED = 3;

/** Describes key checks in aligned lines, one per account. */
export function describeChecks(checks: readonly ProviderCheck[]): string[] {
  return formatTable(
    checks.map((each) => {
      const { provider, account, check } = each;
      const name = account === undefined ? provider : `${provider}@${account}`;
      return [name, WORDS[check.outcome], detailOf(each)];
    }),
  );
}

/** Describes the key checks of a start, printed below its own lines. */
export function describeStartChecks(checks: readonly ProviderCheck[]): string {
  const lines = describeChecks(checks).map((line) => `  ${line}`);
  const isAllWell = checks.every(({ check }) => isWell(check));
  const advice = isAllWell
    ? []
    : ['  Fix the keys above, then run `npm run gateway -- providers check`.'];
  return `${['Provider keys, each checked with a free call:', ...lines, ...advice].join('\n')}\n\n`;
}

function detailOf({ check, catalogue }: ProviderCheck): string {
  if (check.outcome !== 'ok' || !catalogue || catalogue.total === 0) return check.message;
  const { seen, total, missing } = catalogue;
  if (missing.length === 0) return `sees all ${total} models of the catalogue`;
  const more = missing.length > MAX_NAMED ? `, and ${missing.length - MAX_NAMED} more` : '';
  return `sees ${seen} of ${total} models of the catalogue, not ${missing.slice(0, MAX_NAMED).join(', ')}${more}`;
}
