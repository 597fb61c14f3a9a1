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
 * A service that encrypted something with the old secret of the file has stored it by then: no
 * statement waits longer than 5 s for a lock.
 */
const STORED_AFTER_MS = 6_000;

export const secretRotateCommand: Command = {
  name: 'secret rotate',
  summary:
    'Encrypt what is stored with the current GATEWAY_SECRET; the one in the data folder is made anew first.',
  parameters: [],
  options: { lost: 'fingerprint' },
  async run({ options: { lost } }, context) {
    const config = context.config();
    const { database } = await context.services();
    await rotateSecret(config, database, context.print, STORED_AFTER_MS, lost);
  },
};

/**
 * @param storedAfterMs see STORED_AFTER_MS; waited for where services hear of the new secret just now
 * @param lost fingerprint of a secret that nobody has any more: what was made with it is given up
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
  // Before the old secret goes, so that a service which starts meanwhile has the one that is asked for.
  const foreign = await noteSecret(database, secrets(), lost);
  if (ownFile !== undefined) writeSecretFile(ownFile, secrets().slice(0, 1));
  total.flatMap(describe).forEach(print);
  if (foreign !== undefined) print(describeForeign(foreign));
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

/**
 * Notes in the database with which secret its values are encrypted now.
 *
 * @returns the fingerprint of the one that is noted there, when it is none of these and stays
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
    `The database's values were encrypted with another secret (fingerprint ${fingerprint}), without which no service starts on it. ` +
    'Give that one in GATEWAY_SECRET_PREVIOUS and run this again; if it is lost, add ' +
    `\`--lost ${fingerprint}\`: what cannot be opened then has to be given anew.`
  );
}
