/** Each bucket of a latency histogram ends so much above where it begins. */
const GROWTH = 1.1;

/**
 * The bucket of a latency in SQL, from 0 (less than 1 ms) to 226: bucket b begins at
 * 1.1^(b − 1) ms.
 */
export const LATENCY_BUCKET_SQL = `
  CASE WHEN latency_ms < 1 THEN 0
       ELSE 1 + floor(ln(latency_ms::float8) / ln(${GROWTH}::float8))::integer END`;

/**
 * A percentile out of a histogram, by nearest rank: the middle of the bucket that holds it, which
 * is off by at most 5 %.
 *
 * @param counts requests in each bucket
 * @param fraction above 0, at most 1
 * @returns milliseconds; undefined when there are no requests
 */
export function latencyPercentile(
  counts: readonly (number | null)[],
  fraction: number,
): number | undefined {
  const total = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  const rank = Math.max(1, Math.ceil(total * fraction));
  let seen = 0;
  for (const [bucket, count] of counts.entries()) {
    seen += count ?? 0;
    if (seen >= rank) return bucket === 0 ? 0 : Math.round(GROWTH ** (bucket - 0.5));
  }
  return undefined;
}
