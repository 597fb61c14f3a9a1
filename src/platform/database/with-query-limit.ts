import type { QueryConfig } from 'pg';

/**
 * A query that fails when it has not been answered for so long; pg then gives its connection up.
 * `query_timeout` is an option of pg that its types do not know.
 */
export function withQueryLimit({ name, text, values }: QueryConfig, limitMs: number): QueryConfig {
  const limited = { name, text, values, query_timeout: limitMs };
  return limited;
}
