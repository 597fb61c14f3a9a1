import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { runMigrations } from 'graphile-worker';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATIONS } from '../../src/platform/database/migrations.js';
import { locateCluster } from '../../src/platform/database/cluster-location.js';
import { runSingleUser } from '../../src/platform/database/cluster-preparation.js';
import { migrateDatabase } from '../../src/platform/database/migrate-database.js';
import { preparePostgresBinaries } from '../../src/platform/database/postgres-binaries.js';
import { EmbeddedPostgresScene, query } from '../support/embedded-postgres-service.js';

const ROLES = `SELECT rolname AS name, rolsuper AS super, rolcanlogin AS login,
    rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls AS more
  FROM pg_roles WHERE rolname !~ '^pg_' ORDER BY 1`;
const ORDINARY = [
  { name: 'gateway', super: false, login: true, more: false },
  { name: 'gateway_admin', super: true, login: false, more: true },
];
/** Objects that an ordinary role could not change or read. */
const NOT_OWNED = `SELECT count(*) FROM (
    SELECT relowner AS owner FROM pg_class WHERE oid >= 16384
    UNION ALL SELECT proowner FROM pg_proc WHERE oid >= 16384
    UNION ALL SELECT typowner FROM pg_type WHERE oid >= 16384
    UNION ALL SELECT nspowner FROM pg_namespace WHERE oid >= 16384
    UNION ALL SELECT datdba FROM pg_database WHERE datname = 'gateway'
  ) AS owned WHERE owner <> 'gateway'::regrole`;

describe("the embedded PostgreSQL's role", () => {
  const scene = new EmbeddedPostgresScene();
  afterEach(() => scene.stopAll());
  afterAll(() => scene.remove());

  it('is not a superuser, also where it was one before, and keeps its data', async () => {
    const made = await scene.start();
    await migrateDatabase(made.url, MIGRATIONS);
    await runMigrations({ connectionString: made.url });
    expect(await query(made.url, ROLES)).toEqual(ORDINARY);
    await query(made.url, `INSERT INTO tenants (name) VALUES ('kept')`);
    await made.stop();
    await makeSuperuserCluster();

    for (const start of ['upgraded', 'again']) {
      const { url, stop } = await scene.start();
      expect([start, await query(url, ROLES)]).toEqual([start, ORDINARY]);
      expect(await query(url, NOT_OWNED)).toEqual([{ count: 0 }]);
      expect(await query(url, 'SELECT name FROM tenants')).toEqual([{ name: 'kept' }]);
      await migrateDatabase(url, MIGRATIONS);
      await runMigrations({ connectionString: url });
      await query(url, 'ALTER TABLE tenants ADD COLUMN more text');
      await query(url, 'ALTER TABLE tenants DROP COLUMN more');
      await query(url, `SELECT graphile_worker.add_job('topic')`);
      await expect(query(url, `COPY tenants TO PROGRAM 'cat'`)).rejects.toThrow(
        /permission denied/,
      );
      await stop();
    }
  });

  /** Restores the state in which the role was the cluster's initial superuser. */
  async function makeSuperuserCluster(): Promise<void> {
    const cluster = locateCluster({
      dataDirectory: scene.dataDirectory,
      fallbackRoot: join(scene.folder, 'fallback'),
    });
    const password = readFileSync(join(scene.dataDirectory, 'postgres-password'), 'utf8').trim();
    await runSingleUser(
      { ...cluster, binaries: await preparePostgresBinaries(cluster) },
      'gateway',
      [
        'REASSIGN OWNED BY gateway TO gateway_admin',
        'DROP OWNED BY gateway',
        'DROP ROLE gateway',
        `UPDATE pg_authid SET rolname = 'gateway', rolcanlogin = true WHERE oid = 10`,
        `ALTER ROLE gateway PASSWORD '${password}'`,
      ],
    );
    rmSync(join(cluster.clusterFolder, 'gateway-role-is-ordinary'));
  }
});
