import type { AsyncBuffer, FileMetaData, SchemaElement } from 'hyparquet';

const KINDS = {
  uuid: {
    type: 'FIXED_LEN_BYTE_ARRAY',
    type_length: 16,
    logical_type: { type: 'UUID' },
  },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  integer: { type: 'INT32' },
  bigint: { type: 'INT64' },
  /** As text, so that rows are read back exactly as written. */
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  boolean: { type: 'BOOLEAN' },
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MICROS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
  },
} as const satisfies Record<string, Partial<SchemaElement>>;

type Kind = keyof typeof KINDS;

/** All columns of `request_logs`, by name. */
const COLUMNS: Readonly<Record<string, Kind>> = {
  id: 'bigint',
  request_id: 'uuid',
  tenant_id: 'uuid',
  api_key_id: 'uuid',
  endpoint: 'text',
  model: 'text',
  provider: 'text',
  status: 'text',
  outcome: 'text',
  error_type: 'text',
  finish_reason: 'text',
  traffic_mode: 'text',
  prompt_tokens: 'integer',
  completion_tokens: 'integer',
  cache_read_tokens: 'integer',
  cache_write_tokens: 'integer',
  reasoning_tokens: 'integer',
  usage_source: 'text',
  cost: 'bigint',
  model_charge: 'bigint',
  byok_platform_fee: 'bigint',
  managed_tool_fee: 'bigint',
  agent_runtime_fee: 'bigint',
  shortfall: 'bigint',
  billing_note: 'text',
  streamed: 'boolean',
  latency_ms: 'integer',
  generation_time_ms: 'integer',
  created_at: 'time',
  flagged: 'boolean',
  replaces_crash: 'boolean',
  // These and later columns are missing in files of earlier versions.
  first_token_ms: 'integer',
  vendor_cost: 'bigint',
  vendor_started_ms: 'integer',
  attempts: 'json',
  end_user: 'text',
  tags: 'json',
  price_sheet: 'uuid',
  other_usage: 'text',
  config_version: 'integer',
};

/** Columns with statistics per row group; others would cost time and prune nothing. */
const BOUNDED = new Set(['tenant_id', 'request_id', 'created_at']);
const NULLABLE = new Set([
  ...['error_type', 'finish_reason', 'billing_note'],
  ...['first_token_ms', 'vendor_cost', 'vendor_started_ms', 'attempts', 'end_user', 'tags'],
  ...['price_sheet', 'other_usage', 'config_version'],
]);

const FIELDS = Object.entries(COLUMNS).map(([name, kind]) => ({ name, kind }));

export const ARCHIVED_COLUMNS = FIELDS.map(({ name }) => name);

const SCHEMA: SchemaElement[] = [
  { name: 'request_logs', num_children: FIELDS.length },
  ...FIELDS.map(({ name, kind }): SchemaElement => ({
    name,
    repetition_type: NULLABLE.has(name) ? 'OPTIONAL' : 'REQUIRED',
    ...KINDS[kind],
  })),
];

/**
 * A row of `request_logs` as `toRecordset` takes it. Times are text as `instantSql` formats them,
 * and JSON is text.
 */
export type ArchivedRow = Record<string, string | number | boolean | null>;

/** Formats a time in UTC with microseconds and a fixed length, so that text order is time order. */
export const instantSql = (time: string): string =>
  `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

export function toInstant(date: Date): string {
  return `${date.toISOString().slice(0, -1)}000Z`;
}

/** Selects a row of `request_logs` in its archived form. */
export const ARCHIVED_ROW_SQL = FIELDS.map(({ name, kind }) =>
  kind === 'time'
    ? `${instantSql(name)} AS ${name}`
    : kind === 'json'
      ? `${name}::text AS ${name}`
      : name,
).join(', ');

const JSON_COLUMNS = FIELDS.filter(({ kind }) => kind === 'json').map(({ name }) => name);

/** Encodes archived rows for `json_populate_recordset`. */
export function toRecordset(rows: readonly ArchivedRow[]): string {
  return JSON.stringify(
    rows.map((row) => {
      const populated: Record<string, unknown> = { ...row };
      for (const name of JSON_COLUMNS) {
        const text = row[name];
        if (typeof text === 'string') populated[name] = JSON.parse(text);
      }
      return populated;
    }),
  );
}

/** Encodes the row as a line, to compare rows read back with those written. */
export function lineOf(row: ArchivedRow): string {
  return JSON.stringify(FIELDS.map(({ name }) => row[name]));
}

/** Starts a Parquet file in memory; each `add` writes a row group. */
export async function startArchiveFile(): Promise<{
  add: (rows: readonly ArchivedRow[]) => void;
  finish: () => Uint8Array;
}> {
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
  const bytes = new ByteWriter();
  const file = new ParquetWriter({ writer: bytes, schema: SCHEMA });
  return {
    add: (rows) => {
      const columnData = FIELDS.map(({ name, kind }) => ({
        name,
        statistics: BOUNDED.has(name),
        data: rows.map((row) => encode(kind, row[name] ?? null)),
      }));
      void file.write({ columnData, rowGroupSize: rows.length });
    },
    finish: () => {
      void file.finish();
      return bytes.getBytes();
    },
  };
}

function encode(kind: Kind, value: string | number | boolean | null) {
  if (kind === 'bigint' && value !== null) return BigInt(value);
  if (kind !== 'time' || typeof value !== 'string') return value;
  return BigInt(Date.parse(`${value.slice(0, 23)}Z`)) * 1000n + BigInt(value.slice(23, 26));
}

function decode(value: unknown): string | number | boolean | null {
  switch (typeof value) {
    case 'bigint':
      return Number(value);
    case 'string':
    case 'number':
    case 'boolean':
      return value;
    default:
      return null;
  }
}

/** Bounds of a row group, inclusive. */
export interface RowGroup {
  readonly rowStart: number;
  readonly rowEnd: number;
  readonly tenants: Bounds;
  readonly requests: Bounds;
  readonly instants: Bounds;
}
export interface Bounds {
  readonly first: string;
  readonly last: string;
}

/** An archive file with a parsed footer; rows are read group by group. */
export interface ArchiveFile {
  readonly groups: readonly RowGroup[];
  /**
   * @param columns undefined for all
   */
  read(group: RowGroup, columns?: string[]): Promise<ArchivedRow[]>;
}

const PARSERS = {
  timestampFromMicroseconds: (micros: bigint): string => {
    const rest = String(micros % 1000n).padStart(3, '0');
    return `${new Date(Number(micros / 1000n)).toISOString().slice(0, -1)}${rest}Z`;
  },
};
/** About twice the footer of a file of 50,000 rows. */
const FOOTER_BYTES = 128 * 1024;
/** Far more than a group has; the parser allocates by what a file says. */
const MAX_GROUP_ROWS = 100_000;

export async function openArchiveFile(file: AsyncBuffer): Promise<ArchiveFile> {
  const { parquetMetadataAsync, parquetReadObjects } = await import('hyparquet');
  const metadata = await parquetMetadataAsync(file, {
    parsers: PARSERS,
    initialFetchSize: FOOTER_BYTES,
  });
  const known = new Set(metadata.schema.map(({ name }) => name));
  return {
    groups: groupsOf(metadata),
    read: async ({ rowStart, rowEnd }, columns) => {
      const rows: Record<string, unknown>[] = await parquetReadObjects({
        file,
        metadata,
        parsers: PARSERS,
        rowStart,
        rowEnd,
        // Files of earlier versions have fewer columns.
        columns: columns?.filter((name) => known.has(name)),
      });
      return rows.map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, decode(value)])),
      );
    },
  };
}

function groupsOf({ row_groups: groups }: FileMetaData): RowGroup[] {
  let rowStart = 0;
  return groups.map(({ num_rows: rows, columns }) => {
    const boundsOf = (name: string): Bounds => {
      const column = columns.find(({ meta_data: data }) => data?.path_in_schema[0] === name);
      const { min_value: first, max_value: last } = column?.meta_data?.statistics ?? {};
      if (typeof first !== 'string' || typeof last !== 'string') {
        throw new Error(`The archive has no statistics for its column ${name}`);
      }
      return { first, last };
    };
    if (!(rows >= 0 && rows <= MAX_GROUP_ROWS)) {
      throw new Error('The archive has a group of more rows than are written');
    }
    const group = {
      rowStart,
      rowEnd: rowStart + Number(rows),
      tenants: boundsOf('tenant_id'),
      requests: boundsOf('request_id'),
      instants: boundsOf('created_at'),
    };
    rowStart = group.rowEnd;
    return group;
  });
}
