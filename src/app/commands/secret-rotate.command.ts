import { setTimeout as wait } from 'node:timers/promises';
import type { AppConfig } from '../../platform/config/app-config.js';
import {
  gatewaySecrets,
  makeSecret,
  secretFileOf,
  writeSecretFile,
} from '../../platform/config/gateway-secret.js';
import type { Database } from '../../platform/database/database.js';
import type { Command } from './command.js';
import { SecretBox, DecryptionError } from '../../platform/crypto/secret-box.js';

const BATCH = 200;

/** Everything that is stored encrypted. */
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
];

/**
 * A service that encrypted something with the old secret of the file has stored it by then: no
 * statement waits longer than 5 s for a lock.
 */
const STORED_AFTER_MS = 6_000;

export const secretRotateCommand: Command = {
  name: 'secret rotate',
  summary:
    'Encrypt what is stored with the current GATEWAY_SECRET; the one in the data folder is made anew first.',
  parameters: [],
  options: {},
  async run(_input, context) {
    const config = context.config();
    const { database } = await context.services();
    await rotateSecret(config, database, context.print);
  },
};

/** @param storedAfterMs see STORED_AFTER_MS; waited for where services hear of the new secret just now */
export async function rotateSecret(
  config: AppConfig,
  database: Database,
  print: (line: string) => void,
  storedAfterMs = STORED_AFTER_MS,
): Promise<void> {
  const ownFile = ownFileOf(config);
  const secrets = (): readonly string[] => gatewaySecrets(config);
  if (ownFile !== undefined) {
    addNewSecret(ownFile, config);
    print(`${ownFile} holds the new secret, and the old one until all is encrypted anew.`);
  }
  const total = await renewEncrypted(database, secrets);
  // What services stored meanwhile, if they had the old secret.
  for (let more = true; more;) {
    if (ownFile !== undefined) await wait(storedAfterMs);
    const again = await renewEncrypted(database, secrets);
    more = again.some(({ renewed }) => renewed > 0);
    again.forEach(({ renewed }, index) => (total[index]!.renewed += renewed));
  }
  if (ownFile !== undefined) writeSecretFile(ownFile, secrets().slice(0, 1));
  total.flatMap(describe).forEach(print);
  print(
    ownFile === undefined
      ? 'Once this has run while every instance had this GATEWAY_SECRET as its current one, GATEWAY_SECRET_PREVIOUS may go; links to artifacts that were signed with it are void then.'
      : 'The old secret is gone; links to artifacts that were signed with it are void.',
  );
}

/** The file that is the service's own to change; a configured secret is the operator's. */
function ownFileOf(config: AppConfig): string | undefined {
  const isOwn = config.secret === undefined && config.secretFile === undefined;
  return isOwn ? secretFileOf(config) : undefined;
}

/** Unless a command that was broken off has done so already. */
function addNewSecret(path: string, config: AppConfig): void {
  const inFile = gatewaySecrets({ ...config, previousSecrets: [] });
  if (inFile.length === 1) writeSecretFile(path, [makeSecret(), ...inFile]);
}

function describe({ name, renewed, current, unreadable }: Renewal): string[] {
  return [
    `${name}: ${renewed} encrypted anew, ${current} were current, ${unreadable.length} cannot be opened`,
    ...unreadable.map((id) => `  not opened by any secret: ${id}`),
  ];
}

/** A column with encrypted values, each bound to the id of its row. */
interface EncryptedColumn {
  readonly name: string;
  readonly table: string;
  readonly column: string;
  readonly id: string;
  readonly purpose: string;
}

/** What became of the values of one column. */
interface Renewal {
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
async function renewEncrypted(
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
        // What somebody changed meanwhile is theirs, and found by the next pass if need be.
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
