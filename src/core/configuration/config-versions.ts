import { Inject, Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import type { Actor, Author } from '../access/author.js';
import { AuditLog } from '../audit/audit-log.js';
import type { CatalogueRows } from '../catalogue/load-catalogue.js';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { programVersion } from '../../platform/config/program-version.js';
import { notify } from '../../platform/database/database-notices.js';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { fromStoredText, toStoredText } from '../../platform/database/stored-text.js';
import { ConflictError, NotFoundError } from '../../platform/errors/gateway-errors.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { diffOf, type ConfigChange } from './config-diff.js';
import {
  BadConfigError,
  builtInFingerprint,
  catalogueOf,
  configFingerprint,
  EMPTY_DOCUMENT,
  problemsOfAdapters,
  readDocument,
  type ConfigDocument,
  type StoredProvider,
} from './config-document.js';
import { ProviderKeys } from './provider-keys.js';

/** Channel whose notifications carry version numbers. */
export const CONFIG_CHANNEL = 'gateway_config';

/** Differences recorded in the audit log; the version stores all of them. */
const MAX_AUDITED_CHANGES = 100;

const COLUMNS = `number, document, fingerprint, diff, comment, actor_kind, actor_id, actor_name,
  program, built_in, created_at`;

/** A version without its catalogue. Immutable. */
export interface ConfigVersion {
  /** Starts at 1, without gaps. */
  readonly number: number;
  readonly document: ConfigDocument;
  /** Fingerprint of everything in force: 12 hexadecimal digits. */
  readonly fingerprint: string;
  /** Differences from the previous version. */
  readonly diff: readonly ConfigChange[];
  readonly comment: string | null;
  readonly actor: Actor;
  /** Version of the program that created it. */
  readonly program: string;
  /** Fingerprint of that program's built-in rows. */
  readonly builtIn: string;
  readonly createdAt: Date;
}

/** A version with every catalogue row that requests are priced by, built-in ones included. */
export interface PricedVersion extends ConfigVersion {
  readonly catalogue: CatalogueRows;
}

/** A submitted change. */
export interface WantedDocument {
  readonly value: unknown;
  /** Version whose keys are kept for providers submitted without one; the latest by default. */
  readonly keysOf?: ConfigDocument;
}

export interface ChangeOptions {
  readonly comment?: string | null;
  /** Required number of the latest version; 0 when there must be none. */
  readonly expect?: number;
  /** Validates without storing. */
  readonly isDryRun?: boolean;
  /** True when providers may take keys from environment variables, as files do. */
  readonly mayNameVariables?: boolean;
  /** Action in the audit log, such as `config.apply`. */
  readonly action: string;
}

/** The latest version is not the one that the author expected. */
export class ConfigConflictError extends ConflictError {
  constructor(
    readonly expected: number,
    readonly latest: number,
  ) {
    super(
      'expected_version',
      `The configuration is version ${latest}, not ${expected}: someone changed it. Review that change and submit yours again.`,
    );
  }
}

/** Stores versions in the database. Safe with concurrent processes. */
@Injectable()
export class ConfigVersions {
  private readonly keys: ProviderKeys;

  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {
    this.keys = new ProviderKeys(database, config);
  }

  /**
   * Returns the latest version if it is newer than the known one. Rows of a version created by this very program
   * are rebuilt from memory: reading and parsing hundreds takes longer.
   */
  async latestAfter(
    known: number,
    executor: SqlExecutor = this.database.lookUps,
    before: number | null = null,
  ): Promise<PricedVersion | undefined> {
    const { rows } = await executor.query<VersionRow & { catalogue: StoredRows | null }>(
      `SELECT ${COLUMNS}, CASE WHEN program <> $2 OR built_in <> $3 THEN catalogue END AS catalogue
       FROM config_versions WHERE number > $1 AND ($4::integer IS NULL OR number < $4)
       ORDER BY number DESC LIMIT 1`,
      [known, programVersion(), builtInFingerprint(), before],
    );
    const [row] = rows;
    if (!row) return undefined;
    const { catalogue, document } = row;
    return {
      ...toVersion(row),
      catalogue: catalogue ? new Map(Object.entries(catalogue)) : catalogueOf(document),
    };
  }

  /** Returns the latest version before a number, for a start whose latest version cannot be adopted. */
  latestBefore(number: number): Promise<PricedVersion | undefined> {
    return this.latestAfter(0, this.database.lookUps, number);
  }

  /** Returns the number of the latest version; 0 before the first. */
  async latestNumber(): Promise<number> {
    const { rows } = await this.database.lookUps.query<{ number: number | null }>(
      'SELECT max(number) AS number FROM config_versions',
    );
    return rows[0]?.number ?? 0;
  }

  /** @throws NotFoundError (`version`) */
  async find(number: number): Promise<ConfigVersion> {
    const { rows } = await this.database.query<VersionRow>(
      `SELECT ${COLUMNS} FROM config_versions WHERE number = $1`,
      [number],
    );
    if (rows[0]) return toVersion(rows[0]);
    throw new NotFoundError('version', `The configuration has no version ${number}.`);
  }

  /** Returns versions newest first, those before `before` when given. */
  async list(limit: number, before?: number): Promise<ConfigVersion[]> {
    const { rows } = await this.database.query<VersionRow>(
      `SELECT ${COLUMNS} FROM config_versions WHERE $2::integer IS NULL OR number < $2
       ORDER BY number DESC LIMIT $1`,
      [limit, before ?? null],
    );
    return rows.map(toVersion);
  }

  /** Returns the keys of providers and accounts by `keyName`; omits those that cannot be decrypted. */
  keysOf(
    providers: readonly StoredProvider[],
    executor?: SqlExecutor,
  ): Promise<ReadonlyMap<string, string>> {
    return this.keys.of(providers, executor);
  }

  /**
   * Creates the next version, with its audit row, and notifies all instances. Creates none when nothing changes.
   * Concurrent calls are serialized.
   *
   * @param make receives the latest version, undefined before the first
   * @throws BadConfigError, ConfigConflictError, ConflictError (`program`); nothing is stored then
   */
  change(
    author: Author,
    make: (latest: PricedVersion | undefined) => WantedDocument,
    options: ChangeOptions,
  ): Promise<{ version: ConfigVersion; isNew: boolean }> {
    return this.database.transaction(async (client) => {
      // Readers are not blocked; writers wait and then see this change.
      await client.query('LOCK TABLE config_versions IN SHARE ROW EXCLUSIVE MODE');
      const latest = await this.latestAfter(0, client);
      const known = latest?.number ?? 0;
      const { expect = known } = options;
      if (expect !== known) throw new ConfigConflictError(expect, known);
      if (latest) refuseOlderProgram(latest);
      const before = latest?.document ?? EMPTY_DOCUMENT;
      const { value, keysOf = before } = make(latest);
      const given = readDocument(value, this.config);
      const { mayNameVariables = false } = options;
      const { document, newKeys } = await this.keys.place(client, given, keysOf, mayNameVariables);
      const problems = problemsOfAdapters(document, before, this.config.declared.providers);
      if (problems.length > 0) throw new BadConfigError(problems);
      const diff = diffOf(before, document);
      if (latest && diff.length === 0 && latest.builtIn === builtInFingerprint()) {
        return { version: latest, isNew: false };
      }
      const catalogue = catalogueOf(document);
      const draft: Omit<ConfigVersion, 'createdAt'> = {
        number: known + 1,
        document,
        fingerprint: configFingerprint(catalogue, document.providers, document.settings),
        diff,
        comment: options.comment ?? null,
        actor: author.actor,
        program: programVersion(),
        builtIn: builtInFingerprint(),
      };
      if (options.isDryRun) return { version: { ...draft, createdAt: new Date() }, isNew: true };
      await this.keys.store(client, newKeys);
      const createdAt = await insert(client, draft, catalogue);
      await this.audit.record(client, author, {
        tenantId: null,
        action: options.action,
        target: { type: 'config_version', id: String(draft.number) },
        before: latest ? { version: latest.number, fingerprint: latest.fingerprint } : null,
        after: {
          version: draft.number,
          fingerprint: draft.fingerprint,
          comment: draft.comment,
          diff: diff.slice(0, MAX_AUDITED_CHANGES),
        },
      });
      await notify(client, CONFIG_CHANNEL, String(draft.number));
      return { version: { ...draft, createdAt }, isNew: true };
    });
  }
}

/** Catalogue rows by id. */
type StoredRows = Record<string, JsonObject>;

interface VersionRow {
  number: number;
  document: ConfigDocument;
  fingerprint: string;
  diff: ConfigChange[];
  comment: string | null;
  actor_kind: Actor['kind'];
  actor_id: string | null;
  actor_name: string;
  program: string;
  built_in: string;
  created_at: Date;
}

function toVersion(row: VersionRow): ConfigVersion {
  return {
    number: row.number,
    document: row.document,
    fingerprint: row.fingerprint,
    diff: row.diff,
    comment: row.comment === null ? null : fromStoredText(row.comment),
    actor: { kind: row.actor_kind, id: row.actor_id, name: fromStoredText(row.actor_name) },
    program: row.program,
    builtIn: row.built_in,
    createdAt: row.created_at,
  };
}

async function insert(
  client: PoolClient,
  version: Omit<ConfigVersion, 'createdAt'>,
  catalogue: CatalogueRows,
): Promise<Date> {
  const { rows } = await client.query<{ created_at: Date }>(
    `INSERT INTO config_versions (number, document, catalogue, fingerprint, diff, comment, actor_kind,
                                  actor_id, actor_name, program, built_in)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING created_at`,
    [
      version.number,
      JSON.stringify(version.document),
      JSON.stringify(Object.fromEntries(catalogue)),
      version.fingerprint,
      JSON.stringify(version.diff),
      version.comment === null ? null : toStoredText(version.comment),
      version.actor.kind,
      version.actor.id,
      toStoredText(version.actor.name),
      version.program,
      version.builtIn,
    ],
  );
  return rows[0]!.created_at;
}

/** Refuses changes by an older program, whose built-in rows would replace newer ones. @throws ConflictError */
function refuseOlderProgram({ number, program }: ConfigVersion): void {
  if (!isOlder(programVersion(), program)) return;
  throw new ConflictError(
    'program',
    `Version ${number} of the configuration was created by Model Gateway ${program}, and this is ${programVersion()}. Change it with an instance of that version.`,
  );
}

/** Returns whether a program version precedes another. */
export function isOlder(one: string, other: string): boolean {
  const parts = (version: string): number[] => version.split(/[.+-]/, 3).map(Number);
  const [own, theirs] = [parts(one), parts(other)];
  for (const [index, part] of own.entries()) {
    const their = theirs[index] ?? 0;
    if (part !== their) return part < their;
  }
  return false;
}
