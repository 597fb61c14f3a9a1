import { toStoredText } from '../../platform/database/stored-text.js';
import { TAG, type LogDimension, type LogFilters } from './log-dimensions.js';
import { valueIdOf } from './series-statements.js';

/** A facet whose sums answer a query, and the value to match; undefined for all. */
export interface Facet {
  readonly name: string;
  readonly only: string | undefined;
}

/** Returns undefined when the query needs several facets. */
export function facetOf(
  dimensions: readonly LogDimension[],
  { tags = {}, apiKeyId, endUser, status, model, provider, endpoint }: LogFilters,
): Facet | undefined {
  const texts = { end_user: endUser, status, model, provider, endpoint };
  const asked = [
    ...Object.entries(texts).flatMap(([name, value]) =>
      value === undefined ? [] : [{ name, only: toStoredText(value) }],
    ),
    ...(apiKeyId === undefined ? [] : [{ name: 'api_key', only: apiKeyId.toLowerCase() }]),
    ...Object.entries(tags).map(([key, only]) => ({ name: `tag:${key}`, only })),
  ];
  const named = dimensions.filter(({ grain, name }) => grain === undefined && name !== 'tenant');
  const [filter, ...others] = asked;
  const [dimension, ...further] = named;
  if (others.length > 0 || further.length > 0) return undefined;
  if (!filter) return { name: dimension?.name ?? 'all', only: undefined };
  return dimension && dimension.name !== filter.name ? undefined : filter;
}

/** Returns the facet that usually matches least of several filters; there must be at least one. */
export function rarestOf({
  endUser,
  tags = {},
  apiKeyId,
  ...others
}: LogFilters): Facet | undefined {
  const [tag] = Object.entries(tags);
  if (endUser !== undefined) return facetOf([], { endUser });
  if (tag) return facetOf([], { tags: Object.fromEntries([tag]) });
  if (apiKeyId !== undefined) return facetOf([], { apiKeyId });
  const { model, provider, endpoint } = others;
  return facetOf(
    [],
    model !== undefined ? { model } : provider !== undefined ? { provider } : { endpoint },
  );
}

export function facetValueOf(dimension: LogDimension | undefined, value: string): string {
  if (!dimension) return 'NULL::text';
  return dimension.grain === undefined && dimension.name !== 'tenant'
    ? value
    : dimension.sql('period', String);
}

/** Returns the condition for a facet's sums and its value. */
export function isOfFacet({ name, only }: Facet, parameter: (value: string) => string): string {
  const isFacet = `facet = ${parameter(name)}`;
  return only === undefined ? isFacet : `${isFacet} AND value_id = ${valueIdOf(parameter(only))}`;
}

/**
 * Selects the sums that form a facet's groups. Requests without a tag are the total minus those
 * with it.
 */
export function facetSums(facet: Facet, parameter: (value: string) => string) {
  const isFacet = isOfFacet(facet, parameter);
  const found = { value: 'value', isRest: 'is_rest', signs: undefined, condition: isFacet };
  if (facet.only !== undefined || !facet.name.startsWith(TAG)) return [found];
  const unknown = `facet = 'tags' AND is_rest`;
  return [
    found,
    { value: 'NULL', isRest: 'true', signs: undefined, condition: unknown },
    {
      value: 'NULL',
      isRest: 'false',
      signs: `CASE facet WHEN 'all' THEN 1 ELSE -1 END`,
      condition: `(facet = 'all' OR ${isFacet} OR (${unknown}))`,
    },
  ];
}
