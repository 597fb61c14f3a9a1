import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { databaseOptions } from '../../src/platform/database/database-options.js';
import { ENTITIES } from '../support/entities.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** TypeORM's own table. */
const WITHOUT_ENTITY = ['migrations'];
/** Tables without a primary key; their entities name columns that identify a row well enough. */
const WITHOUT_KEY = [
  'ledger_entries',
  'request_log_corrections',
  'request_log_counts',
  'request_log_roll_ups',
  'request_log_series_corrections',
  'request_logs',
  'route_pauses',
];

interface ColumnRow {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
  readonly hasDefault: boolean;
  readonly isPrimary: boolean;
}

describe('the entities', () => {
  let testDatabase: TestDatabase;
  let dataSource: DataSource;
  let columns: ColumnRow[];

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    dataSource = await new DataSource({
      ...databaseOptions(testDatabase.url),
      entities: ENTITIES,
    }).initialize();
    columns = await columnsOf(testDatabase);
  });

  afterAll(async () => {
    await dataSource.destroy();
    await testDatabase.drop();
  });

  it('map every table exactly once', () => {
    const mapped = dataSource.entityMetadatas.map(({ tableName }) => tableName);
    const tables = new Set(columns.map(({ table }) => table));
    expect(mapped.toSorted()).toEqual([...tables].filter(hasEntity).toSorted());
  });

  it('map every column with its type, nullability, default and key', () => {
    const mapped = dataSource.entityMetadatas.flatMap((entity) =>
      entity.columns
        .filter(({ isVirtualProperty }) => !isVirtualProperty)
        .map((column) => ({
          table: entity.tableName,
          name: column.databaseName,
          type: typeOf(dataSource, column),
          isNullable: column.isNullable,
          hasDefault: column.default !== undefined || column.isGenerated || !column.isInsert,
          isPrimary: column.isPrimary && !WITHOUT_KEY.includes(entity.tableName),
        })),
    );
    expect(mapped.map(describeColumn).toSorted()).toEqual(
      columns
        .filter(({ table }) => hasEntity(table))
        // TypeORM has no nullable keys.
        .map((row) => ({ ...row, isNullable: row.isNullable && !isIdentifying(row) }))
        .map(describeColumn)
        .toSorted(),
    );
  });

  /** Returns whether a nullable column identifies a row of a table without a key. */
  function isIdentifying({ table, name }: ColumnRow): boolean {
    return dataSource.entityMetadatas.some(
      ({ tableName, primaryColumns }) =>
        tableName === table && primaryColumns.some(({ databaseName }) => databaseName === name),
    );
  }
});

function hasEntity(table: string): boolean {
  return !WITHOUT_ENTITY.includes(table);
}

function describeColumn(column: ColumnRow): string {
  const { table, name, type, isNullable, hasDefault, isPrimary } = column;
  return `${table}.${name} ${type}${isNullable ? ' null' : ''}${hasDefault ? ' default' : ''}${isPrimary ? ' key' : ''}`;
}

/** Formats a type like `format_type`. */
function typeOf({ driver }: DataSource, column: ColumnMetadata): string {
  const type = driver.normalizeType(column);
  const { precision, isArray } = column;
  return `${precision == null ? type : type.replace('timestamp', `timestamp(${precision})`)}${isArray ? '[]' : ''}`;
}

/** Returns the columns of tables in `public`, without partitions, since their parents have the entity. */
async function columnsOf({ database }: TestDatabase): Promise<ColumnRow[]> {
  const { rows } = await database.query<ColumnRow>(`
    SELECT class.relname AS table, attname AS name, format_type(atttypid, atttypmod) AS type,
           NOT attnotnull AS "isNullable", atthasdef OR attidentity <> '' AS "hasDefault",
           coalesce(attnum = ANY (key.conkey), false) AS "isPrimary"
      FROM pg_class class
      JOIN pg_attribute ON attrelid = class.oid AND attnum > 0 AND NOT attisdropped
      LEFT JOIN pg_constraint key ON key.conrelid = class.oid AND key.contype = 'p'
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`);
  return rows;
}
