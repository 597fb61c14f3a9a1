/** As many are named at most. */
const MOST = 3;
/** Of 1; below, names have little in common. */
const LEAST_LIKENESS = 0.5;
/** Aliases are no longer; a longer one is nobody's slip. */
const MAX_LENGTH = 200;

/** The ids that are most like an alias which is none of them, the nearest first. */
export function nearestIds(alias: string, ids: readonly string[]): string[] {
  if (alias.length > MAX_LENGTH) return [];
  const own = pairsOf(alias);
  return ids
    .map((id) => ({ id, likeness: likenessOf(own, pairsOf(id)) }))
    .filter(({ likeness }) => likeness >= LEAST_LIKENESS)
    .sort((one, other) => other.likeness - one.likeness)
    .slice(0, MOST)
    .map(({ id }) => id);
}

/** Dice's coefficient: the share of neighbouring characters that both have. */
function likenessOf(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let common = 0;
  for (const pair of one) if (other.has(pair)) common++;
  return (2 * common) / Math.max(one.size + other.size, 1);
}

function pairsOf(text: string): Set<string> {
  const lower = text.toLowerCase();
  const pairs = new Set<string>();
  for (let at = 0; at < lower.length - 1; at++) pairs.add(lower.slice(at, at + 2));
  return pairs;
}
