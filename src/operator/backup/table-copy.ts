import { pipeline } from 'node:stream/promises';
import pg, { type Client } from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';

/** Size of a table part. A single row can be larger. */
const PART_BYTES = 8 * 1024 * 1024;
const NEW_LINE = 0x0a;
/** TypeORM's table of applied migrations. */
const MIGRATIONS = 'migrations';

/** A table with its writable columns. */
export interface CopiedTable {
  readonly name: string;
  readonly columns: string[];
}

/** Current state of a sequence. */
export interface SequenceState {
  readonly name: string;
  /** As text, since it can exceed JavaScript's safe integers. */
  readonly value: string;
  readonly isCalled: boolean;
}

/** Lists only parents of partitioned tables: reads cover all partitions, and writes are routed. */
const TABLES = `
  SELECT relname::text AS name,
         array_agg(attname::text ORDER BY attnum) FILTER (WHERE attgenerated = '') AS columns
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
   WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
     AND NOT relispartition AND relname <> '${MIGRATIONS}'
   GROUP BY relname ORDER BY relname`;

const REFERENCES = `
  SELECT DISTINCT child.relname::text AS child, parent.relname::text AS parent
    FROM pg_constraint
    JOIN pg_class AS child ON child.oid = conrelid
    JOIN pg_class AS parent ON parent.oid = confrelid
   WHERE contype = 'f' AND connamespace = current_schema()::regnamespace
     AND child.oid <> parent.oid AND NOT child.relispartition AND NOT parent.relispartition`;

const SEQUENCES = `
  SELECT pg_class.relname::text AS name FROM pg_class
   WHERE relnamespace = current_schema()::regnamespace AND relkind = 'S'
     AND NOT EXISTS (
       SELECT FROM pg_depend JOIN pg_class AS owner ON owner.oid = refobjid
       WHERE objid = pg_class.oid AND deptype IN ('a', 'i') AND owner.relname = '${MIGRATIONS}'
     )
   ORDER BY name`;

/** Opens a connection for whole tables, without the time limits of requests. */
export async function connectForCopy(url: string): Promise<Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'model-gateway backup',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  // A lost connection also fails the current statement. Unhandled, the event would end the process.
  client.on('error', () => undefined);
  await client.connect();
  await client.query(`SET datestyle TO 'ISO'; SET timezone TO 'UTC'; SET lock_timeout TO '30s'`);
  return client;
}

/** Returns the URL with the schema as the search path. */
export function withSchema(url: string, schema: string): string {
  const changed = new URL(url);
  const options = changed.searchParams.get('options');
  const own = `-c search_path=${schema}`;
  changed.searchParams.set('options', options === null ? own : `${options} ${own}`);
  // PostgreSQL would not decode `+` as a space.
  changed.search = changed.search.replaceAll('+', '%20');
  return changed.href;
}

/** Lists every table except migrations, referenced tables first. */
export async function listTables(client: Client): Promise<CopiedTable[]> {
  const { rows: tables } = await client.query<CopiedTable>(TABLES);
  const { rows: references } = await client.query<{ child: string; parent: string }>(REFERENCES);
  const ordered: CopiedTable[] = [];
  let rest = tables;
  while (rest.length > 0) {
    const waiting = new Set(rest.map(({ name }) => name));
    const isReady = ({ name }: CopiedTable): boolean =>
      !references.some(({ child, parent }) => child === name && waiting.has(parent));
    const ready = rest.filter(isReady);
    if (ready.length === 0) throw new Error(`tables refer to each other: ${[...waiting].join()}`);
    ordered.push(...ready);
    rest = rest.filter((table) => !ready.includes(table));
  }
  return ordered;
}

/** Lists applied migrations; empty when the database is not the service's. */
export async function listMigrations(client: Client): Promise<string[]> {
  const { rows: found } = await client.query<{ is_there: boolean }>(
    `SELECT to_regclass(format('%I.${MIGRATIONS}', current_schema())) IS NOT NULL AS is_there`,
  );
  if (found[0]?.is_there !== true) return [];
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM ${MIGRATIONS} ORDER BY id`,
  );
  return rows.map(({ name }) => name);
}

/** Sequences are not part of snapshots. Read after the snapshot, they are never behind its rows. */
export async function readSequences(client: Client): Promise<SequenceState[]> {
  const states: SequenceState[] = [];
  const { rows } = await client.query<{ name: string }>(SEQUENCES);
  for (const { name } of rows) {
    const state = await client.query<Omit<SequenceState, 'name'>>(
      `SELECT last_value::text AS value, is_called AS "isCalled" FROM ${quote(name)}`,
    );
    states.push({ name, ...state.rows[0]! });
  }
  return states;
}

export async function setSequences(
  client: Client,
  sequences: readonly SequenceState[],
): Promise<void> {
  for (const { name, value, isCalled } of sequences) {
    await client.query('SELECT setval(quote_ident($1)::regclass, $2::bigint, $3)', [
      name,
      value,
      isCalled,
    ]);
  }
}

/** Empties all tables and disables their triggers until `enableTriggers`. */
export async function clearTables(client: Client): Promise<void> {
  await setTriggers(client, 'DISABLE');
  const tables = await listTables(client);
  await client.query(`TRUNCATE ${tables.map(({ name }) => quote(name)).join(', ')}`);
}

export function enableTriggers(client: Client): Promise<void> {
  return setTriggers(client, 'ENABLE');
}

/** Partitions can have triggers that the parent lacks. */
async function setTriggers(client: Client, change: 'ENABLE' | 'DISABLE'): Promise<void> {
  const tables = await listTables(client);
  for (const name of [...tables.map((table) => table.name), ...(await listPartitions(client))]) {
    await client.query(`ALTER TABLE ${quote(name)} ${change} TRIGGER USER`);
  }
}

/** Lists partitions. */
export async function listPartitions(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND relispartition
      ORDER BY name`,
  );
  return rows.map(({ name }) => name);
}

/**
 * Creates the monthly partitions of these names (`…_2026_11`) that are missing, so that rows return to
 * their own partitions. Rows of other months go to the default partition. Only named months are
 * created: a range of centuries would be thousands of tables.
 */
export async function makeMonths(client: Client, partitions: readonly string[]): Promise<void> {
  const months = partitions.flatMap((name) => {
    const [, year, month] = /_([12]\d{3})_(0[1-9]|1[0-2])$/.exec(name) ?? [];
    return year === undefined ? [] : [`${year}-${month}-01`];
  });
  if (months.length === 0) return;
  const { rows } = await client.query<{ is_there: boolean }>(
    `SELECT to_regproc('make_month_partitions') IS NOT NULL AS is_there`,
  );
  if (rows[0]?.is_there !== true) return;
  for (const month of new Set(months.toSorted())) {
    await client.query('SELECT make_month_partitions($1::date, $1::date)', [month]);
  }
}

/**
 * Yields a table's rows in PostgreSQL's text format, split at row ends. Returns the number of
 * rows.
 */
export async function* copyOut(client: Client, table: CopiedTable): AsyncGenerator<Buffer, number> {
  const rows = client.query(
    copyTo(`COPY (SELECT ${columnsOf(table)} FROM ${quote(table.name)}) TO STDOUT`),
  );
  let chunks: Buffer[] = [];
  let size = 0;
  const received: AsyncIterable<Buffer> = rows;
  for await (const chunk of received) {
    // Line breaks within values are escaped.
    const end = size + chunk.length < PART_BYTES ? 0 : chunk.lastIndexOf(NEW_LINE) + 1;
    if (end > 0) {
      yield Buffer.concat([...chunks, chunk.subarray(0, end)]);
      [chunks, size] = [[], 0];
    }
    chunks.push(chunk.subarray(end));
    size += chunk.length - end;
  }
  if (size > 0) yield Buffer.concat(chunks);
  return rows.rowCount;
}

/** Writes one part to a table. Returns the number of rows. */
export async function copyIn(
  client: Client,
  table: CopiedTable,
  part: AsyncIterable<Buffer>,
): Promise<number> {
  const rows = client.query(copyFrom(`COPY ${quote(table.name)} (${columnsOf(table)}) FROM STDIN`));
  await pipeline(part, rows);
  return rows.rowCount;
}

export function quote(name: string): string {
  return pg.escapeIdentifier(name);
}

function columnsOf({ columns }: CopiedTable): string {
  return columns.map(quote).join(', ');
}
