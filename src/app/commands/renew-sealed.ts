import { SecretBox, UnsealError } from '../../platform/crypto/secret-box.js';
import type { Database } from '../../platform/database/database.js';

const BATCH = 200;

/** A column with encrypted values, each bound to the id of its row. */
interface SealedColumn {
  readonly name: string;
  readonly table: string;
  readonly column: string;
  readonly id: string;
  readonly purpose: string;
}

/** Everything that is stored encrypted. */
const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    name: 'Provider credentials',
    table: 'provider_credentials',
    column: 'sealed_key',
    id: 'id',
    purpose: 'provider-credential',
  },
  {
    name: 'Destination headers',
    table: 'broadcast_destinations',
    column: 'sealed_headers',
    id: 'id',
    purpose: 'destination-headers',
  },
  {
    name: 'Webhook secrets',
    table: 'webhook_secrets',
    column: 'sealed_secret',
    id: 'tenant_id',
    purpose: 'webhook-secret',
  },
  {
    name: 'Previous webhook secrets',
    table: 'webhook_secrets',
    column: 'sealed_previous',
    id: 'tenant_id',
    purpose: 'webhook-secret',
  },
];

/** What became of the values of one column. */
export interface Renewal {
  readonly name: string;
  renewed: number;
  /** They had been encrypted with the current secret already. */
  current: number;
  /** Ids of rows whose value none of the secrets opens; it stays as it is. */
  readonly unreadable: string[];
}

/**
 * Encrypts all stored values with the current one of the secrets, a batch at a time. Safe while
 * services run and change them, and may be broken off and done again.
 */
export async function renewSealed(
  database: Database,
  secrets: () => readonly string[],
): Promise<Renewal[]> {
  const renewals: Renewal[] = [];
  for (const column of SEALED_COLUMNS) {
    const box = new SecretBox(secrets, column.purpose);
    renewals.push(await renewColumn(database, column, box));
  }
  return renewals;
}

async function renewColumn(
  database: Database,
  { name, table, column, id }: SealedColumn,
  box: SecretBox,
): Promise<Renewal> {
  const renewal: Renewal = { name, renewed: 0, current: 0, unreadable: [] };
  let last: string | null = null;
  for (;;) {
    const { rows }: { rows: { id: string; sealed: Buffer }[] } = await database.query(
      `SELECT ${id} AS id, ${column} AS sealed FROM ${table}
        WHERE ($1::uuid IS NULL OR ${id} > $1) AND ${column} IS NOT NULL ORDER BY ${id} LIMIT $2`,
      [last, BATCH],
    );
    for (const row of rows) {
      const renewed = renew(box, row.sealed, row.id);
      if (renewed === 'unreadable') renewal.unreadable.push(row.id);
      else if (renewed === undefined) renewal.current++;
      else {
        // What somebody changed meanwhile is theirs, and found by the next pass if need be.
        await database.query(
          `UPDATE ${table} SET ${column} = $3 WHERE ${id} = $1 AND ${column} = $2`,
          [row.id, row.sealed, renewed],
        );
        renewal.renewed++;
      }
    }
    if (rows.length < BATCH) return renewal;
    last = rows.at(-1)!.id;
  }
}

function renew(box: SecretBox, sealed: Buffer, id: string): Buffer | 'unreadable' | undefined {
  try {
    return box.renew(sealed, id);
  } catch (error) {
    if (error instanceof UnsealError) return 'unreadable';
    throw error;
  }
}
