import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import type { AppConfig } from '../../platform/config/app-config.js';
import { gatewaySecrets } from '../../platform/config/gateway-secret.js';
import { DecryptionError, SecretBox } from '../../platform/crypto/secret-box.js';
import type { Database, SqlExecutor } from '../../platform/database/database.js';
import { readPlainKey } from '../../vendors/vendor.js';
import {
  BadConfigError,
  type ConfigDocument,
  type ConfigProblem,
  type GivenDocument,
  type StoredProvider,
} from './config-document.js';

/** What provider keys are encrypted for. */
export const PROVIDER_KEY_PURPOSE = 'provider-key';

/** The keys of providers in the database, encrypted and apart from the versions that name them. */
export class ProviderKeys {
  private readonly box: SecretBox;

  constructor(
    private readonly database: Database,
    config: AppConfig,
  ) {
    this.box = new SecretBox(() => gatewaySecrets(config), PROVIDER_KEY_PURPOSE);
  }

  /** By the providers' ids; one that cannot be opened is left out. */
  async of(
    providers: readonly StoredProvider[],
    executor: SqlExecutor = this.database.lookUps,
  ): Promise<ReadonlyMap<string, string>> {
    const ids = providers.flatMap(({ api_key: key }) => (key ? [key.id] : []));
    if (ids.length === 0) return new Map();
    const { rows } = await executor.query<{ id: string; encrypted: Buffer }>(
      'SELECT id, sealed_key AS encrypted FROM provider_keys WHERE id = ANY ($1::uuid[])',
      [ids],
    );
    const opened = new Map(rows.map(({ id, encrypted }) => [id, this.open(encrypted, id)]));
    const keys = new Map<string, string>();
    for (const { id, api_key: stored } of providers) {
      const key = stored && opened.get(stored.id);
      if (key !== undefined) keys.set(id, key);
    }
    return keys;
  }

  /**
   * The document as it is stored: keys that are new are named by new ids. One that stays does so only at
   * the address that it was given for, since whoever may change an address may not read keys.
   */
  async place(
    client: PoolClient,
    given: GivenDocument,
    keysOf: ConfigDocument,
    mayNameVariables: boolean,
  ): Promise<{ document: ConfigDocument; newKeys: Map<string, string> }> {
    const problems: ConfigProblem[] = [];
    const newKeys = new Map<string, string>();
    const stored = await this.of(keysOf.providers, client);
    const providers = given.providers.map(({ api_key: key, ...entry }): StoredProvider => {
      const before = keysOf.providers.find(({ id }) => id === entry.id);
      const isSamePlace = before?.base_url === entry.base_url && before.adapter === entry.adapter;
      const complain = (field: string, message: string): void => {
        const param = `providers.${entry.id}.${field}`;
        problems.push({ param, message: `${param} ${message}` });
      };
      if (entry.api_key_env !== undefined) {
        const isKnown = isSamePlace && before.api_key_env === entry.api_key_env;
        if (!mayNameVariables && !isKnown) {
          complain('api_key_env', 'can be set by files and commands alone; send api_key here');
        }
        return entry;
      }
      if (key === null) return entry;
      if (key === undefined) {
        if (!before?.api_key) return entry;
        if (!isSamePlace) complain('api_key', 'must be given anew, as the address is another');
        return { ...entry, api_key: before.api_key };
      }
      if (before?.api_key && stored.get(entry.id) === key) {
        return { ...entry, api_key: before.api_key };
      }
      const id = randomUUID();
      newKeys.set(id, key);
      const read = readPlainKey(key);
      return { ...entry, api_key: { id, preview: 'preview' in read ? read.preview : '' } };
    });
    if (problems.length > 0) throw new BadConfigError(problems);
    const { models, settings } = given;
    return { document: { models, providers, settings }, newKeys };
  }

  /** @param keys by their ids, as `place` gives them */
  async store(client: PoolClient, keys: ReadonlyMap<string, string>): Promise<void> {
    for (const [id, key] of keys) {
      await client.query('INSERT INTO provider_keys (id, sealed_key) VALUES ($1, $2)', [
        id,
        this.box.encrypt(key, id),
      ]);
    }
  }

  private open(encrypted: Buffer, id: string): string | undefined {
    try {
      return this.box.decrypt(encrypted, id);
    } catch (error) {
      if (error instanceof DecryptionError) return undefined;
      throw error;
    }
  }
}
