import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import { isArtifactId, type ArtifactStore } from '../../features/jobs/artifacts/artifact-store.js';
import { LocalArtifactStore } from '../../features/jobs/artifacts/local-artifact-store.js';
import { S3ArtifactStore } from '../../features/jobs/artifacts/s3-artifact-store.js';
import { BackupFileError, contentOf, type BackupMember } from './backup-archive.js';
import {
  clearTables,
  connectForCopy,
  copyIn,
  enableTriggers,
  listTables,
  makeMonths,
  readSequences,
  setSequences,
} from './table-copy.js';
import type { AppConfig } from '../../platform/config/app-config.js';
import { gatewaySecrets } from '../../platform/config/gateway-secret.js';
import { secretFingerprint } from '../../platform/crypto/secret-box.js';
import { migrateDatabase } from '../../platform/database/migrate-database.js';
import { MIGRATIONS } from '../../platform/database/migrations.js';
import {
  COUNTS_MEMBER,
  HEADER_MEMBER,
  parseCounts,
  parseHeader,
  type BackupCounts,
  type BackupHeader,
} from './backup-header.js';
import { artifactFolder } from './write-backup.js';

/**
 * Thrown when a restore fails without changing the target. The message tells the operator what to
 * do.
 */
export class RestoreError extends Error {
  override readonly name = 'RestoreError';
}

export interface RestoreOptions {
  readonly url: string;
  readonly config: AppConfig;
  /** True when to discard the target's content. */
  readonly replaces: boolean;
  /** True when to keep values that no secret of the target can decrypt. */
  readonly takesOtherSecret: boolean;
  /**
   * True when nothing else can use the target, such as an embedded database started for the restore.
   */
  readonly isExclusive: boolean;
  /** Called after everything is loaded and checked, just before the swap. */
  readonly beforePlacing?: () => void;
}

/** Loads the members of a backup in order. */
export class StagingLoader {
  private client: Client | undefined;
  private header: BackupHeader | undefined;
  private counts: BackupCounts | undefined;
  /** Tables that do not belong to the service. */
  private readonly foreign = new Set<string>();
  private readonly rows = new Map<string, number>();
  private readonly store: ArtifactStore;
  /** Where artifacts wait until the backup is known to be whole. */
  private readonly pendingFolder: string;
  private readonly waiting: ArtifactStore;
  private readonly artifacts = new Map<string, number>();
  private files = 0;

  constructor(
    private readonly url: string,
    private readonly options: RestoreOptions,
  ) {
    const { config } = options;
    this.store = config.s3
      ? new S3ArtifactStore(config.s3)
      : new LocalArtifactStore(artifactFolder(config));
    // With a bucket there need not be a data folder.
    this.pendingFolder = config.s3
      ? join(tmpdir(), `restore-${randomUUID()}`)
      : join(config.dataDirectory, 'restored-artifacts');
    this.waiting = new LocalArtifactStore(this.pendingFolder);
  }

  async take({ name, size, content }: BackupMember): Promise<void> {
    const [kind, place = '', last = ''] = name.split('/');
    if (name === HEADER_MEMBER) await this.begin(parseHeader(await contentOf(content)));
    else if (name === COUNTS_MEMBER) this.counts = parseCounts(await contentOf(content));
    else if (kind === 'tables') await this.load(place, content);
    else if (kind === 'artifacts') {
      await this.takeArtifact(last, size, content);
    } else {
      throw new BackupFileError(`The backup has an unknown part: ${JSON.stringify(name)}.`);
    }
  }

  /** @throws BackupFileError unless everything that the backup lists was present */
  finished(): { header: BackupHeader; counts: BackupCounts; foreign: string[] } {
    const { header, counts } = this;
    if (!header || !counts) throw new BackupFileError('The file is not a backup of this service.');
    for (const { name } of header.tables.filter((table) => !this.foreign.has(table.name))) {
      const [expected, found] = [counts.rows[name] ?? 0, this.rows.get(name) ?? 0];
      if (expected !== found) {
        throw new BackupFileError(`The backup has ${found} of the ${expected} rows of ${name}.`);
      }
    }
    if (counts.artifacts.files !== this.files) {
      throw new BackupFileError('The backup lacks some of its artifacts.');
    }
    return { header, counts, foreign: [...this.foreign] };
  }

  /** Finishes loading: restores sequences and removes instances of the old service. */
  async complete({ sequences }: BackupHeader): Promise<Client> {
    const client = this.connected();
    const own = new Set((await readSequences(client)).map(({ name }) => name));
    await setSequences(
      client,
      sequences.filter(({ name }) => own.has(name)),
    );
    await client.query('DELETE FROM instances');
    if (this.options.takesOtherSecret) await forgetSecret(client);
    await enableTriggers(client);
    return client;
  }

  /** Moves the artifacts into place. Call after everything else has been checked. */
  async placeArtifacts(): Promise<void> {
    for (const [id, size] of this.artifacts) {
      const found = await this.waiting.open(id);
      if (!found) throw new RestoreError(`The artifact ${id} disappeared during the restore.`);
      await this.store.put(id, 'application/octet-stream', found.stream, size);
      await this.waiting.remove(id);
    }
  }

  async close(): Promise<void> {
    await this.client?.end();
    await rm(this.pendingFolder, { recursive: true, force: true });
  }

  private async takeArtifact(
    id: string,
    size: number,
    content: AsyncIterable<Buffer>,
  ): Promise<void> {
    if (!isArtifactId(id)) {
      throw new BackupFileError(
        `The backup has an artifact with an invalid name: ${JSON.stringify(id)}.`,
      );
    }
    await this.waiting.put(id, 'application/octet-stream', content, size);
    this.artifacts.set(id, size);
    this.files++;
  }

  private async begin(header: BackupHeader): Promise<void> {
    if (this.header || this.client) {
      throw new BackupFileError('The backup has two descriptions.');
    }
    assertKnown(header);
    assertReadable(header, this.options);
    // A killed restore leaves its folder behind.
    await rm(this.pendingFolder, { recursive: true, force: true });
    const names = new Set(header.migrations);
    await migrateDatabase(
      this.url,
      MIGRATIONS.filter(({ name }) => names.has(name)),
    );
    this.client = await connectForCopy(this.url);
    const own = new Map((await listTables(this.client)).map((table) => [table.name, table]));
    for (const { name, columns } of header.tables) {
      const table = own.get(name);
      if (!table) this.foreign.add(name);
      const missing = columns.filter((column) => table?.columns.includes(column) === false);
      if (missing.length > 0) {
        throw new RestoreError(
          `The backup's table ${name} has columns unknown to this version: ${missing.join(', ')}.`,
        );
      }
    }
    await makeMonths(this.client, header.partitions);
    await clearTables(this.client);
    this.header = header;
  }

  private async load(name: string, content: AsyncIterable<Buffer>): Promise<void> {
    const table = this.header?.tables.find((one) => one.name === name);
    if (!table) throw new BackupFileError('The backup has rows of an undeclared table.');
    if (this.foreign.has(name)) return drain(content);
    const rows = await copyIn(this.connected(), table, content);
    this.rows.set(name, (this.rows.get(name) ?? 0) + rows);
  }

  private connected(): Client {
    if (this.client) return this.client;
    throw new BackupFileError('The backup does not begin with its description.');
  }
}

async function drain(content: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of content);
}

/** The next start records its own secret. Values of the old one are lost. */
async function forgetSecret(client: Client): Promise<void> {
  const { rows } = await client.query<{ is_there: boolean }>(
    `SELECT to_regclass('installation') IS NOT NULL AS is_there`,
  );
  if (rows[0]?.is_there === true) {
    await client.query('UPDATE installation SET secret_fingerprint = NULL');
  }
}

/** @throws RestoreError when the backup's schema is newer than the code's */
function assertKnown({ migrations, version }: BackupHeader): void {
  const known = new Set(MIGRATIONS.map(({ name }) => name));
  const [unknown] = migrations.filter((name) => !known.has(name));
  if (unknown === undefined) return;
  throw new RestoreError(
    `The backup's schema is newer than this version of the service (${unknown}): restore it with version ${version} or newer.`,
  );
}

/** @throws RestoreError when stored values could not be decrypted */
function assertReadable({ secrets }: BackupHeader, options: RestoreOptions): void {
  if (options.takesOtherSecret) return;
  const own = new Set(gatewaySecrets(options.config).map(secretFingerprint));
  const missing = secrets.filter((fingerprint) => !own.has(fingerprint));
  if (missing.length === 0) return;
  throw new RestoreError(
    `The backup was made with another GATEWAY_SECRET (fingerprint ${missing.join(', ')}; here: ${[...own].join(', ')}), and the ` +
      'vendor keys, headers and webhook secrets in it cannot be decrypted without it: set that secret (GATEWAY_SECRET, or the file secret in the data folder), ' +
      'or give these values up with --other-secret.',
  );
}
