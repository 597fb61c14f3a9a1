import type { UpstreamCall } from '../upstream.js';

/** Enables beta features. */
export const BETA_HEADER = 'anthropic-beta';

/** Rejected by other platforms for models without a thinking budget. */
export const INTERLEAVED = 'interleaved-thinking-2025-05-14';
const TAKES_INTERLEAVED = /claude-(?:opus|sonnet)-4(?:-[0-5])?(?!-?\d{1,2}(?!\d))/;

/**
 * Returns the betas of a call for another platform that offers Claude. Unlike Anthropic, platforms reject
 * a request for a single unknown name.
 *
 * @param known the platform's supported betas and its names for them
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
