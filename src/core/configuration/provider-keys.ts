import { randomUUID } from 'node:crypto';
import type { PoolClient } from 'pg';
import type { AccountEntry, AppConfig, ProviderEntry } from '../../platform/config/app-config.js';
import { vendorOfEntry } from '../../platform/config/pool-accounts.js';
import { VENDORS } from '../../vendors/vendors.js';
import { gatewaySecrets } from '../../platform/config/gateway-secret.js';
import { DecryptionError, SecretBox } from '../../platform/crypto/secret-box.js';
import type { Database, SqlExecutor } from '../../platform/database/database.js';
import { readPlainKey } from '../../vendors/vendor.js';
import {
  BadConfigError,
  type ConfigDocument,
  type ConfigProblem,
  type GivenAccount,
  type GivenDocument,
  type StoredAccount,
  type StoredKey,
  type StoredProvider,
} from './config-document.js';

/** An entry that may have a key: a provider or one of its accounts. */
interface KeyHolder {
  readonly given: Pick<GivenAccount, 'api_key' | 'api_key_env'>;
  /** The entry in the version whose keys are kept. */
  readonly before: Pick<StoredAccount, 'api_key' | 'api_key_env'> | undefined;
  readonly isSamePlace: boolean;
  /** Name of its key. */
  readonly name: string;
  /** Path of its fields. */
  readonly param: string;
}

type PlaceFields = Partial<Pick<AccountEntry, 'base_url' | 'region' | 'settings'>>;

/** Returns the name of a provider's or account's key; provider ids contain no `@`. */
export function keyName(provider: string, account?: string): string {
  return account === undefined ? provider : `${provider}@${account}`;
}

function keysIn({ id, api_key: own, accounts = [] }: StoredProvider): [string, StoredKey][] {
  const keys: [string, StoredKey][] = own ? [[id, own]] : [];
  for (const { id: account, api_key: key } of accounts) {
    if (key) keys.push([keyName(id, account), key]);
  }
  return keys;
}

/**
 * Returns everything in an entry that can affect where calls go. Settings count unless the vendor declares
 * them placeless, so that a new vendor is safe by default.
 */
function placeOf(
  { base_url: url, region, settings = {} }: PlaceFields,
  entry: Pick<ProviderEntry, 'adapter' | 'id'>,
): string {
  const placeless = vendorOfEntry(entry, VENDORS)?.placelessSettings ?? [];
  const named = Object.entries(settings).filter(([name]) => !placeless.includes(name));
  return JSON.stringify([url, region, named.sort(([one], [other]) => (one < other ? -1 : 1))]);
}

/** For an account at its provider's address. */
const NO_PLACE = placeOf({}, { id: '' });

/** Purpose that provider keys are encrypted for. */
export const PROVIDER_KEY_PURPOSE = 'provider-key';

/** Stores provider keys, encrypted and separate from the versions that name them. */
export class ProviderKeys {
  private readonly box: SecretBox;

  constructor(
    private readonly database: Database,
    config: AppConfig,
  ) {
    this.box = new SecretBox(() => gatewaySecrets(config), PROVIDER_KEY_PURPOSE);
  }

  /** Returns keys by `keyName`; omits those that cannot be decrypted. */
  async of(
    providers: readonly StoredProvider[],
    executor: SqlExecutor = this.database.lookUps,
  ): Promise<ReadonlyMap<string, string>> {
    const named = providers.flatMap(keysIn);
    const ids = named.map(([, key]) => key.id);
    if (ids.length === 0) return new Map();
    const { rows } = await executor.query<{ id: string; encrypted: Buffer }>(
      'SELECT id, sealed_key AS encrypted FROM provider_keys WHERE id = ANY ($1::uuid[])',
      [ids],
    );
    const opened = new Map(rows.map(({ id, encrypted }) => [id, this.open(encrypted, id)]));
    const keys = new Map<string, string>();
    for (const [name, stored] of named) {
      const key = opened.get(stored.id);
      if (key !== undefined) keys.set(name, key);
    }
    return keys;
  }

  /**
   * Returns the document to store, with new ids for new keys. A kept key requires the address it was given
   * for, since the right to change an address does not include reading keys.
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
    const place = (holder: KeyHolder): { api_key?: StoredKey } => {
      const { given: entry, before, isSamePlace, name } = holder;
      const { api_key: key, api_key_env: variable } = entry;
      const complain = (field: string, message: string): void => {
        const param = `${holder.param}.${field}`;
        problems.push({ param, message: `${param} ${message}` });
      };
      if (variable !== undefined) {
        const isKnown = isSamePlace && before?.api_key_env === variable;
        if (!mayNameVariables && !isKnown) {
          complain('api_key_env', 'can be set by files and commands only. Send api_key here');
        }
        return {};
      }
      if (key === null) return {};
      if (key === undefined) {
        if (!before?.api_key) return {};
        if (!isSamePlace) complain('api_key', 'must be sent again: the address has changed');
        return { api_key: before.api_key };
      }
      if (before?.api_key && stored.get(name) === key) return { api_key: before.api_key };
      const id = randomUUID();
      newKeys.set(id, key);
      const read = readPlainKey(key);
      return { api_key: { id, preview: 'preview' in read ? read.preview : '' } };
    };
    const providers = given.providers.map((provider): StoredProvider => {
      const { api_key: _, accounts, ...entry } = provider;
      const before = keysOf.providers.find(({ id }) => id === entry.id);
      const param = `providers.${entry.id}`;
      const isSamePlace =
        before !== undefined &&
        before.adapter === entry.adapter &&
        placeOf(before, before) === placeOf(entry, entry);
      const placed = accounts?.map((given, index): StoredAccount => {
        const { api_key: _own, ...account } = given;
        const known = before?.accounts?.find(({ id }) => id === account.id);
        const key = place({
          given,
          before: known,
          // A change of the provider's address also moves accounts without an address of their own.
          isSamePlace:
            known !== undefined && isSamePlace && placeOf(known, entry) === placeOf(account, entry),
          name: keyName(entry.id, account.id),
          param: `${param}.accounts.${index}`,
        });
        return { ...account, ...key };
      });
      // Accounts without a key use the provider's.
      const isSentElsewhere = accounts?.some((account) => {
        const known = before?.accounts?.find(({ id }) => id === account.id);
        const hasKey =
          account.api_key_env !== undefined ||
          (account.api_key === undefined ? known?.api_key !== undefined : account.api_key !== null);
        const place = placeOf(account, entry);
        return !hasKey && place !== NO_PLACE && (!known || placeOf(known, entry) !== place);
      });
      const own = place({
        given: provider,
        before,
        isSamePlace: isSamePlace && isSentElsewhere !== true,
        name: entry.id,
        param,
      });
      return { ...entry, ...own, ...(placed && { accounts: placed }) };
    });
    if (problems.length > 0) throw new BadConfigError(problems);
    const { models, settings } = given;
    return { document: { models, providers, settings }, newKeys };
  }

  /** @param keys by id, as returned by `place` */
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
