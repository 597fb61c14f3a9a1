import type { BootedGateway } from './boot-gateway.js';

/** Returns the tenant's account. */
export async function balanceOf({
  database,
  tenantId,
}: BootedGateway): Promise<{ balance: number; held: number }> {
  const { rows } = await database.query<{ balance: number; held: number }>(
    'SELECT balance, held FROM accounts WHERE tenant_id = $1',
    [tenantId],
  );
  return rows[0]!;
}

/** Returns a job's ledger entries: kinds and amounts, oldest first. */
export async function jobEntries(
  { database }: BootedGateway,
  id: string,
): Promise<[string, number][]> {
  const { rows } = await database.query<{ kind: string; amount: number }>(
    `SELECT kind, amount FROM ledger_entries
     WHERE request_id = (SELECT request_id FROM jobs WHERE id = $1) ORDER BY id`,
    [id],
  );
  return rows.map(({ kind, amount }) => [kind, amount]);
}

/** Returns a job's rows in the request log. */
export async function jobLogs(
  { database }: BootedGateway,
  id: string,
): Promise<Record<string, unknown>[]> {
  const { rows } = await database.query(
    `SELECT outcome, cost, vendor_cost, endpoint, provider FROM request_logs
     WHERE request_id = (SELECT request_id FROM jobs WHERE id = $1)`,
    [id],
  );
  return rows;
}
