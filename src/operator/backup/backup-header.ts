import type { Client } from 'pg';
import { findBookFaults, hasArchivedLogs, readBookFigures } from '../../core/ledger/books.js';
import { BackupFileError } from './backup-archive.js';
import { listMigrations, listPartitions, listTables, readSequences } from './table-copy.js';
import type { AppConfig } from '../../platform/config/app-config.js';
import { programVersion } from '../../platform/config/program-version.js';
import { gatewaySecrets } from '../../platform/config/gateway-secret.js';
import { secretFingerprint } from '../../platform/crypto/secret-box.js';
import { compileSchema, type BodyOf } from '../../platform/http/validate-body.js';

/** Members of a backup besides table parts and artifacts. */
export const HEADER_MEMBER = 'backup.json';
export const COUNTS_MEMBER = 'counts.json';
/** Incremented when older versions cannot read the format. */
const FORMAT = 1;

/** Shown in a terminal, where control characters would act. */
const text = {
  type: 'string',
  maxLength: 1_000,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
} as const;
const count = { type: 'integer', minimum: 0 } as const;
const texts = { type: 'array', items: text, maxItems: 2_400 } as const;
const table = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'columns'],
  properties: { name: text, columns: texts },
} as const;
const sequence = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'value', 'isCalled'],
  properties: { name: text, value: text, isCalled: { type: 'boolean' } },
} as const;
const headerSchema = {
  type: 'object',
  required: [
    'format',
    'version',
    'createdAt',
    'migrations',
    'secrets',
    'tables',
    'partitions',
    'sequences',
    'books',
  ],
  properties: {
    format: { const: FORMAT },
    version: text,
    createdAt: text,
    /** Names of the applied migrations. The last identifies the schema. */
    migrations: texts,
    /** Fingerprints of every GATEWAY_SECRET that encrypted stored values. */
    secrets: texts,
    tables: { type: 'array', items: table, maxItems: 2_400 },
    /** Names of the parts of tables. */
    partitions: texts,
    sequences: { type: 'array', items: sequence, maxItems: 2_400 },
    books: {
      type: 'object',
      required: ['figures', 'faults', 'isLogWhole'],
      properties: {
        figures: { type: 'object', additionalProperties: text },
        faults: texts,
        isLogWhole: { type: 'boolean' },
      },
    },
  },
} as const;
const countsSchema = {
  type: 'object',
  required: ['rows', 'artifacts'],
  properties: {
    rows: { type: 'object', additionalProperties: count },
    artifacts: {
      type: 'object',
      required: ['files', 'bytes'],
      properties: { files: count, bytes: count },
    },
  },
} as const;

/** First member of a backup. */
export type BackupHeader = BodyOf<typeof headerSchema>;
/** Counts at the end of a backup: rows by table, and artifacts. */
export type BackupCounts = BodyOf<typeof countsSchema>;

const isHeader = compileSchema(headerSchema);
const areCounts = compileSchema(countsSchema);

/** Describes the database as this transaction sees it. */
export async function describeDatabase(client: Client, config: AppConfig): Promise<BackupHeader> {
  const isKept = config.logRetentionDays === 0 && !(await hadRetention(client));
  const isLogWhole = isKept && !(await hasArchivedLogs(client));
  return {
    format: FORMAT,
    version: programVersion(),
    createdAt: new Date().toISOString(),
    migrations: await listMigrations(client),
    secrets: gatewaySecrets(config).map(secretFingerprint),
    tables: await listTables(client),
    partitions: await listPartitions(client),
    sequences: await readSequences(client),
    books: {
      figures: await readBookFigures(client),
      faults: await findBookFaults(client, { isLogWhole }),
      isLogWhole,
    },
  };
}

/** Returns whether any configuration version had log retention. */
async function hadRetention(client: Client): Promise<boolean> {
  const { rows: tables } = await client.query<{ name: string | null }>(
    `SELECT to_regclass('config_versions')::text AS name`,
  );
  if (tables[0]?.name == null) return false;
  const { rowCount } = await client.query(
    `SELECT FROM config_versions
     WHERE (document #>> '{settings,GATEWAY_LOG_RETENTION_DAYS}')::integer > 0 LIMIT 1`,
  );
  return rowCount === 1;
}

/** @throws BackupFileError when this version cannot read the format */
export function parseHeader(json: Buffer): BackupHeader {
  const value = parse(json);
  if (isHeader(value)) return value;
  throw new BackupFileError(
    'The backup has a format that this version does not support: restore it with the version that made it or a newer one.',
  );
}

/** Returns undefined for invalid JSON. */
function parse(json: Buffer): unknown {
  try {
    return JSON.parse(json.toString());
  } catch {
    return undefined;
  }
}

/** @throws BackupFileError */
export function parseCounts(json: Buffer): BackupCounts {
  const value = parse(json);
  if (areCounts(value)) return value;
  throw new BackupFileError('The backup ends without its row counts.');
}
