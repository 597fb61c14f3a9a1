import type { PoolClient } from 'pg';

/**
 * Returns whether the tenant may open another job, background responses included. Serializes the
 * tenant's submissions until they commit, so that the count is exact.
 */
export async function hasRoomForJob(
  client: PoolClient,
  tenantId: string,
  maxOpen: number,
): Promise<boolean> {
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `open jobs ${tenantId}`,
  ]);
  const { rows } = await client.query<{ open: number }>(
    `SELECT count(*)::int AS open FROM (
       (SELECT FROM jobs WHERE tenant_id = $1 AND status IN ('queued', 'in_progress') LIMIT $2)
       UNION ALL
       (SELECT FROM background_responses WHERE tenant_id = $1 LIMIT $2)
     ) AS counted`,
    [tenantId, maxOpen],
  );
  return rows[0]!.open < maxOpen;
}
