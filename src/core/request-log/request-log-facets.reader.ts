import { Injectable } from '@nestjs/common';
import { fromStoredText } from '../../platform/database/stored-text.js';
import { Database } from '../../platform/database/database.js';
import { isTagKey } from '../../canonical/request-tags.js';
import { TAG } from './log-dimensions.js';
import { readSnapshot } from './request-log-filters.js';

/** Values in a tenant's requests, most frequent first. */
export interface RequestLogFacets {
  readonly models: string[];
  readonly providers: string[];
  readonly endpoints: string[];
  /** `name` is the key's current name. */
  readonly apiKeys: { readonly id: string; readonly name: string | null }[];
  readonly tags: { readonly key: string; readonly values: string[] }[];
}

/** Most values per facet, and per tag. */
const MAX_VALUES = 100;
const MAX_TAGS = 20;
/** Most tag keys to read. */
const MAX_NAMES = 500;

interface Value {
  facet: string;
  value: string;
  name: string | null;
}

/**
 * Returns the filter values of a tenant's requests, from facet sums plus rows not
 * summed yet.
 */
@Injectable()
export class RequestLogFacetsReader {
  constructor(private readonly database: Database) {}

  /**
   * @param since omits the months before this instant's
   */
  async ofTenant(tenantId: string, since: Date): Promise<RequestLogFacets> {
    const values = await readSnapshot(this.database, async (client, { seriesId, facetsFrom }) => {
      const month = Date.UTC(since.getUTCFullYear(), since.getUTCMonth());
      const isWhole = facetsFrom.getTime() <= month;
      const { rows } = await client.query<Value>(isWhole ? READ_SUMS : READ_SERIES, [
        tenantId,
        since,
        seriesId,
        MAX_VALUES,
      ]);
      return rows.map(({ facet, value, name }) => ({
        facet,
        value: facet.startsWith(TAG) ? value : fromStoredText(value),
        name: name === null ? null : fromStoredText(name),
      }));
    });
    const of = (facet: string) =>
      values.filter((each) => each.facet === facet).map(({ value }) => value);
    const tagKeys = values
      .flatMap(({ facet }) => (facet.startsWith(TAG) ? [facet.slice(TAG.length)] : []))
      .filter((key, at, keys) => keys.indexOf(key) === at && isTagKey(key));
    return {
      models: of('model'),
      providers: of('provider'),
      endpoints: of('endpoint'),
      apiKeys: values
        .filter(({ facet }) => facet === 'api_key')
        .map(({ value, name }) => ({ id: value, name })),
      tags: tagKeys.slice(0, MAX_TAGS).map((key) => ({ key, values: of(TAG + key) })),
    };
  }
}

const COLUMNS = 'model, provider, endpoint, api_key_id, tags';

/** Rows that are in no sum yet. */
const NEWER = `
  SELECT ${COLUMNS}, 1 AS requests FROM request_logs
  WHERE id > $3::bigint AND tenant_id = $1 AND created_at >= $2`;

/** Selects the facets of rows with these columns. */
const facetsOf = (source: string): string => `
  SELECT 'model' AS facet, model AS value, requests FROM ${source}
  UNION ALL SELECT 'provider', provider, requests FROM ${source}
  UNION ALL SELECT 'endpoint', endpoint, requests FROM ${source}
  UNION ALL SELECT 'api_key', api_key_id::text, requests FROM ${source}
  UNION ALL SELECT '${TAG}' || tag.key, tag.value, requests
    FROM ${source} CROSS JOIN LATERAL jsonb_each_text(tags) AS tag`;

/**
 * @param facets SQL for facet, value and requests of $1 since the month of $2
 */
const read = (facets: string): string => `
  ${facets}, ranked AS (
    SELECT facet, value, sum(requests) AS requests,
      row_number() OVER (PARTITION BY facet ORDER BY sum(requests) DESC, value) AS place
    FROM facets WHERE value <> '' GROUP BY facet, value
  )
  SELECT facet, value, api_keys.name
  FROM ranked LEFT JOIN api_keys ON facet = 'api_key' AND api_keys.id::text = value
  WHERE place <= $4
  ORDER BY place, ranked.requests DESC, facet`;

/** Looks facets up one after the other (skip scan), since sums of end users lie between them. */
const READ_SUMS = read(`
  WITH RECURSIVE named AS (
    (SELECT facet FROM request_log_facet_sums WHERE tenant_id = $1 ORDER BY facet LIMIT 1)
    UNION ALL
    SELECT (
      SELECT facet FROM request_log_facet_sums
      WHERE tenant_id = $1 AND facet > named.facet ORDER BY facet LIMIT 1
    ) FROM named WHERE facet IS NOT NULL
  ), asked AS MATERIALIZED (
    SELECT facet FROM named
    WHERE facet IN ('model', 'provider', 'endpoint', 'api_key') OR facet LIKE '${TAG}%'
    LIMIT ${MAX_NAMES}
  ), newer AS MATERIALIZED (${NEWER}
  ), facets AS (
    SELECT facet, value, requests FROM asked CROSS JOIN LATERAL (
      SELECT value, requests FROM request_log_facet_sums AS sums
      WHERE tenant_id = $1 AND sums.facet = asked.facet AND grain = 'day'
        AND period >= date_trunc('month', $2::timestamptz, 'UTC') AND NOT is_rest
    ) AS each
    UNION ALL ${facetsOf('newer')}
  )`);

/** Used where facet sums are incomplete. */
const READ_SERIES = read(`
  WITH series AS MATERIALIZED (
    SELECT ${COLUMNS}, sum(requests) AS requests FROM (
      SELECT ${COLUMNS}, requests FROM request_log_series
      WHERE tenant_id = $1 AND kind IN ('none', 'any') AND NOT is_rest
        AND month >= date_trunc('month', $2::timestamptz, 'UTC')
      UNION ALL ${NEWER}
    ) AS part GROUP BY ${COLUMNS}
  ), facets AS (${facetsOf('series')}
  )`);
