import { toStoredText } from '../../platform/database/stored-text.js';
import { TAG, type LogDimension, type LogFilters } from './log-dimensions.js';
import { valueIdOf } from './series-statements.js';

/** A facet whose sums answer a question, and the value that is asked for; undefined: all. */
export interface Facet {
  readonly name: string;
  readonly only: string | undefined;
}

/** Undefined where it takes more than one thing that requests have in common. */
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

/** The facet that has least of what several filters ask for, as a rule; at least one is there. */
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

/** The condition that sums of facets are of this one, and of what is asked for. */
export function isOfFacet({ name, only }: Facet, parameter: (value: string) => string): string {
  const isFacet = `facet = ${parameter(name)}`;
  return only === undefined ? isFacet : `${isFacet} AND value_id = ${valueIdOf(parameter(only))}`;
}

/** Which rows of a facet make its groups. Requests without a tag are those that are left of all. */
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
