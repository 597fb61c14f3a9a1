import { setTimeout as wait } from 'node:timers/promises';
import type { AppConfig } from '../../platform/config/app-config.js';
import {
  gatewaySecrets,
  makeSecret,
  secretFileOf,
  writeSecretFile,
} from '../../platform/config/gateway-secret.js';
import type { Database } from '../../platform/database/database.js';
import { COMMAND_AUTHOR } from '../../core/access/author.js';
import { AuditLog } from '../../core/audit/audit-log.js';
import type { Command } from './command.js';
import { secretFingerprint } from '../../platform/crypto/secret-box.js';
import { readStoredFingerprint, renewEncrypted, type Renewal } from '../stored-secrets.js';

/**
 * By then, services have stored anything they encrypted with the old secret: no statement waits longer
 * than 5 s for a lock.
 */
const STORED_AFTER_MS = 6_000;

export const secretRotateCommand: Command = {
  name: 'secret rotate',
  summary:
    'Re-encrypt stored values with the current GATEWAY_SECRET. A secret in the data folder is replaced first.',
  parameters: [],
  options: { lost: 'fingerprint' },
  async run({ options: { lost } }, context) {
    const config = context.config();
    const { database } = await context.services();
    await rotateSecret(config, database, context.print, STORED_AFTER_MS, lost);
  },
};

/**
 * @param storedAfterMs see STORED_AFTER_MS; used when services learn of the new secret only now
 * @param lost fingerprint of a lost secret, whose values are given up
 */
export async function rotateSecret(
  config: AppConfig,
  database: Database,
  print: (line: string) => void,
  storedAfterMs = STORED_AFTER_MS,
  lost?: string,
): Promise<void> {
  const ownFile = ownFileOf(config);
  const secrets = (): readonly string[] => gatewaySecrets(config);
  if (ownFile !== undefined) {
    addNewSecret(ownFile, config);
    print(`${ownFile} contains the new secret, and the old one until all values are re-encrypted.`);
  }
  const total = await renewEncrypted(database, secrets);
  // Repeats for values that services encrypted with the old secret in the meantime.
  for (let more = true; more;) {
    if (ownFile !== undefined) await wait(storedAfterMs);
    const again = await renewEncrypted(database, secrets);
    more = again.some(({ renewed }) => renewed > 0);
    again.forEach(({ renewed }, index) => (total[index]!.renewed += renewed));
  }
  // Before the old secret is removed, so that a service starting now still has the one it needs.
  const foreign = await noteSecret(database, secrets(), lost);
  if (ownFile !== undefined) writeSecretFile(ownFile, secrets().slice(0, 1));
  total.flatMap(describe).forEach(print);
  if (foreign !== undefined) print(describeForeign(foreign));
  print(
    ownFile === undefined
      ? 'Once this command has run after every instance got this GATEWAY_SECRET, remove GATEWAY_SECRET_PREVIOUS; artifact links signed with it then become invalid.'
      : 'The old secret was removed; artifact links signed with it are invalid.',
  );
}

/** Returns the secret file that the service manages. A configured secret is the operator's. */
function ownFileOf(config: AppConfig): string | undefined {
  const isOwn = config.secret === undefined && config.secretFile === undefined;
  return isOwn ? secretFileOf(config) : undefined;
}

/** Does nothing when an interrupted command has already done so. */
function addNewSecret(path: string, config: AppConfig): void {
  const inFile = gatewaySecrets({ ...config, previousSecrets: [] });
  if (inFile.length === 1) writeSecretFile(path, [makeSecret(), ...inFile]);
}

function describe({ name, renewed, current, unreadable }: Renewal): string[] {
  return [
    `${name}: ${renewed} re-encrypted, ${current} were current, ${unreadable.length} cannot be decrypted`,
    ...unreadable.map((id) => `  no secret decrypts: ${id}`),
  ];
}

/**
 * Records the current secret in the database.
 *
 * @returns the recorded fingerprint if it belongs to another secret, which is then kept
 */
async function noteSecret(
  database: Database,
  secrets: readonly string[],
  lost: string | undefined,
): Promise<string | undefined> {
  const noted = await readStoredFingerprint(database);
  const own = secrets.map(secretFingerprint);
  if (noted !== null && noted !== lost && !own.includes(noted)) return noted;
  await database.transaction(async (client) => {
    await client.query('UPDATE installation SET secret_fingerprint = $1', [own[0]]);
    await new AuditLog().record(client, COMMAND_AUTHOR, {
      tenantId: null,
      action: 'secret.rotate',
      target: { type: 'secret', id: 'GATEWAY_SECRET' },
      before: { fingerprint: noted },
      after: { fingerprint: own[0] },
    });
  });
  return undefined;
}

function describeForeign(fingerprint: string): string {
  return (
    `The database's values were encrypted with another secret (fingerprint ${fingerprint}), and no service starts without it. ` +
    'Add it to GATEWAY_SECRET_PREVIOUS and run this command again. If it is lost, add ' +
    `\`--lost ${fingerprint}\`: values that cannot be decrypted must then be entered again.`
  );
}
