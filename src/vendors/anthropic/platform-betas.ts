import type { UpstreamCall } from '../upstream.js';

/** What opens features that are not released yet. */
export const BETA_HEADER = 'anthropic-beta';

/** Refused by other platforms for any model that does not think by a budget. */
export const INTERLEAVED = 'interleaved-thinking-2025-05-14';
const TAKES_INTERLEAVED = /claude-(?:opus|sonnet)-4(?:-[0-5])?(?!-?\d{1,2}(?!\d))/;

/**
 * The betas of a call that go out to another platform which sells Claude. Unlike the maker, platforms
 * refuse a request for one name that they do not know.
 *
 * @param known what the platform knows, and how it is called there
 */
export function platformBetas(
  { vendorHeaders, upstreamModel }: Pick<UpstreamCall, 'vendorHeaders' | 'upstreamModel'>,
  known: ReadonlyMap<string, string>,
): string[] {
  const given = vendorHeaders?.[BETA_HEADER];
  if (given === undefined) return [];
  const names = given.split(',').flatMap((beta) => known.get(beta) ?? []);
  const taken = names.filter(
    (name) => name !== INTERLEAVED || TAKES_INTERLEAVED.test(upstreamModel),
  );
  return [...new Set(taken)];
}
