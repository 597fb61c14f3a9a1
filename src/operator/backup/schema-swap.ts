import type { Client } from 'pg';
import { quote } from './table-copy.js';

/** All objects of a schema that belong to no other object or extension. */
const OBJECTS = `
  WITH own AS (SELECT $1::text::regnamespace::oid AS schema), extra AS (
    SELECT classid, objid FROM pg_depend WHERE deptype = 'e'
  )
  SELECT 1 AS place, CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW'
           WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind, pg_class.oid::regclass::text AS name
    FROM pg_class, own
   WHERE relnamespace = schema AND relkind IN ('r', 'p', 'v', 'm', 'S')
     AND NOT EXISTS (
       SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid
         AND deptype IN ('a', 'i') AND relkind = 'S'
     )
     AND ('pg_class'::regclass, pg_class.oid) NOT IN (SELECT * FROM extra)
  UNION ALL
  SELECT CASE prokind WHEN 'a' THEN 2 ELSE 3 END, 'ROUTINE', pg_proc.oid::regprocedure::text
    FROM pg_proc, own
   WHERE pronamespace = schema AND ('pg_proc'::regclass, pg_proc.oid) NOT IN (SELECT * FROM extra)
  UNION ALL
  SELECT 4, CASE typtype WHEN 'd' THEN 'DOMAIN' ELSE 'TYPE' END, pg_type.oid::regtype::text
    FROM pg_type LEFT JOIN pg_class ON pg_class.oid = typrelid, own
   WHERE typnamespace = schema AND typtype IN ('c', 'd', 'e')
     AND (typrelid = 0 OR relkind = 'c')
     AND ('pg_type'::regclass, pg_type.oid) NOT IN (SELECT * FROM extra)
   ORDER BY place, kind, name`;

interface SchemaObject {
  readonly kind: string;
  /** Quoted, and qualified when its schema is not in the search path. */
  readonly name: string;
}

/** Returns the tables of a schema, including partitions. */
export async function tablesIn(client: Client, schema: string): Promise<string[]> {
  const objects = await objectsIn(client, schema);
  return objects.filter(({ kind }) => kind === 'TABLE').map(({ name }) => name);
}

/** Empties a schema. Fails when an object elsewhere, such as a view, depends on it. */
export async function emptySchema(client: Client, schema: string): Promise<void> {
  const objects = await objectsIn(client, schema);
  const kinds = [...new Set(objects.map(({ kind }) => kind))];
  // Tables with mutual references are dropped together.
  for (const kind of kinds.sort((one, other) => rankOf(one) - rankOf(other))) {
    const names = objects.filter((object) => object.kind === kind).map(({ name }) => name);
    await client.query(`DROP ${kind} IF EXISTS ${names.join(', ')}`);
  }
}

/** Moves all objects to another schema, which must not have the same names. */
export async function moveObjects(client: Client, from: string, to: string): Promise<void> {
  for (const { kind, name } of await objectsIn(client, from)) {
    await client.query(`ALTER ${kind} ${name} SET SCHEMA ${quote(to)}`);
  }
}

/** Views depend on tables, and tables on functions and types. */
function rankOf(kind: string): number {
  return ['MATERIALIZED VIEW', 'VIEW', 'TABLE', 'SEQUENCE', 'ROUTINE', 'DOMAIN', 'TYPE'].indexOf(
    kind,
  );
}

async function objectsIn(client: Client, schema: string): Promise<SchemaObject[]> {
  const { rows } = await client.query<SchemaObject>(OBJECTS, [quote(schema)]);
  return rows;
}
