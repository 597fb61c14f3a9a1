import { PROVIDER_KEY_PURPOSE } from '../core/configuration/provider-keys.js';
import { ConfigError } from '../platform/config/config-error.js';
import { DecryptionError, SecretBox, secretFingerprint } from '../platform/crypto/secret-box.js';
import type { Database, SqlExecutor } from '../platform/database/database.js';

const BATCH = 200;
/** Number of values per column to try when checking whether a secret is the right one. */
const SAMPLE = 5;

/** All columns with encrypted values. */
const ENCRYPTED_COLUMNS: readonly EncryptedColumn[] = [
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
  {
    name: 'Signing keys',
    table: 'signing_keys',
    column: 'sealed_key',
    id: 'id',
    purpose: 'signing-key',
  },
  {
    name: 'Provider keys',
    table: 'provider_keys',
    column: 'sealed_key',
    id: 'id',
    purpose: PROVIDER_KEY_PURPOSE,
  },
  {
    name: 'URLs of alerts',
    table: 'alert_rules',
    column: 'sealed_url',
    id: 'id',
    purpose: 'alert-url',
  },
  {
    name: 'Keys of the content log',
    table: 'content_keys',
    column: 'sealed_key',
    id: 'id',
    purpose: 'content-key',
  },
];

/** A column with encrypted values, each bound to the id of its row. */
interface EncryptedColumn {
  readonly name: string;
  readonly table: string;
  readonly column: string;
  readonly id: string;
  readonly purpose: string;
}

/** Result for the values of one column. */
export interface Renewal {
  readonly name: string;
  renewed: number;
  /** Values that already used the current secret. */
  current: number;
  /** Ids of rows that no secret can decrypt; they are left unchanged. */
  readonly unreadable: string[];
}

/**
 * Re-encrypts all stored values with the current secret, in batches. Safe while services run and
 * change them, and safe to interrupt and repeat.
 */
export async function renewEncrypted(
  database: Database,
  secrets: () => readonly string[],
): Promise<Renewal[]> {
  const renewals: Renewal[] = [];
  for (const column of ENCRYPTED_COLUMNS) {
    const box = new SecretBox(secrets, column.purpose);
    renewals.push(await renewColumn(database, column, box));
  }
  return renewals;
}

async function renewColumn(
  database: Database,
  { name, table, column, id }: EncryptedColumn,
  box: SecretBox,
): Promise<Renewal> {
  const renewal: Renewal = { name, renewed: 0, current: 0, unreadable: [] };
  let last: string | null = null;
  for (;;) {
    const { rows }: { rows: { id: string; encrypted: Buffer }[] } = await database.query(
      `SELECT ${id} AS id, ${column} AS encrypted FROM ${table}
        WHERE ($1::uuid IS NULL OR ${id} > $1) AND ${column} IS NOT NULL ORDER BY ${id} LIMIT $2`,
      [last, BATCH],
    );
    for (const row of rows) {
      const renewed = renew(box, row.encrypted, row.id);
      if (renewed === 'unreadable') renewal.unreadable.push(row.id);
      else if (renewed === undefined) renewal.current++;
      else {
        // A value changed in the meantime is skipped; the next pass finds it if needed.
        await database.query(
          `UPDATE ${table} SET ${column} = $3 WHERE ${id} = $1 AND ${column} = $2`,
          [row.id, row.encrypted, renewed],
        );
        renewal.renewed++;
      }
    }
    if (rows.length < BATCH) return renewal;
    last = rows.at(-1)!.id;
  }
}

function renew(box: SecretBox, encrypted: Buffer, id: string): Buffer | 'unreadable' | undefined {
  try {
    return box.renew(encrypted, id);
  } catch (error) {
    if (error instanceof DecryptionError) return 'unreadable';
    throw error;
  }
}

/**
 * Checks the secret. Call at each start, before anything is encrypted. The first start records which
 * secret the database uses, unless values were encrypted with another one.
 *
 * @throws ConfigError when the database uses another secret
 */
export async function assertOwnSecret(
  executor: SqlExecutor,
  secrets: () => readonly string[],
): Promise<void> {
  if ((await readStoredFingerprint(executor)) === null) await adoptSecret(executor, secrets);
  const reason = await findForeignSecret(executor, secrets());
  if (reason !== undefined) throw new ConfigError([reason]);
}

/** Returns a message for the operator when the database uses another secret, otherwise undefined. */
export async function findForeignSecret(
  executor: SqlExecutor,
  secrets: readonly string[],
): Promise<string | undefined> {
  const theirs = await readStoredFingerprint(executor);
  const own = secrets.map(secretFingerprint);
  if (theirs === null || own.includes(theirs)) return undefined;
  return (
    `GATEWAY_SECRET (fingerprint ${own[0]}) is not the secret that this database's values were encrypted with (fingerprint ${theirs}): ` +
    'stored vendor keys, headers and webhook secrets cannot be decrypted. Set that secret, or add it to GATEWAY_SECRET_PREVIOUS; ' +
    `if it is lost, run \`npm run gateway -- secret rotate --lost ${theirs}\``
  );
}

/** Returns the fingerprint of the secret that encrypted the values; null before the first start. */
export async function readStoredFingerprint(executor: SqlExecutor): Promise<string | null> {
  const { rows } = await executor.query<{ fingerprint: string | null }>(
    'SELECT secret_fingerprint AS fingerprint FROM installation',
  );
  return rows[0]?.fingerprint ?? null;
}

/** Records the secret. Databases of early versions have values but no fingerprint. */
async function adoptSecret(executor: SqlExecutor, secrets: () => readonly string[]): Promise<void> {
  if (!(await opensStoredValues(executor, secrets))) {
    throw new ConfigError([
      'GATEWAY_SECRET is not the secret that the values in this database were encrypted with: it decrypts none of them. ' +
        'Set that secret, or add it to GATEWAY_SECRET_PREVIOUS',
    ]);
  }
  await executor.query(
    'UPDATE installation SET secret_fingerprint = $1 WHERE secret_fingerprint IS NULL',
    [secretFingerprint(secrets()[0] ?? '')],
  );
}

/** Returns whether the secrets decrypt any stored value, or there are none. */
async function opensStoredValues(
  executor: SqlExecutor,
  secrets: () => readonly string[],
): Promise<boolean> {
  let isEmpty = true;
  for (const { table, column, id, purpose } of ENCRYPTED_COLUMNS) {
    const box = new SecretBox(secrets, purpose);
    const { rows } = await executor.query<{ id: string; encrypted: Buffer }>(
      `SELECT ${id} AS id, ${column} AS encrypted FROM ${table}
        WHERE ${column} IS NOT NULL ORDER BY ${id} LIMIT $1`,
      [SAMPLE],
    );
    if (rows.some((row) => renew(box, row.encrypted, row.id) !== 'unreadable')) return true;
    if (rows.length > 0) isEmpty = false;
  }
  return isEmpty;
}
