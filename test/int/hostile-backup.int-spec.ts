import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { pack, type Headers } from 'tar-stream';
import { BackupWriter, contentOf, readBackup } from '../../src/operator/backup/backup-archive.js';
import { createTenant } from '../support/ledger-factories.js';
import { runOperatorCommand } from '../support/operator-command.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const SECRET = 's'.repeat(40);

type Entry = Partial<Headers> & { name: string; pax?: Record<string, string> };
type Members = [name: string, content: Buffer][];
type Header = Record<string, unknown> & {
  tables: { name: string; columns: string[] }[];
  sequences: { name: string; value: string; isCalled: boolean }[];
  partitions: string[];
};

describe('restore of a hostile archive', () => {
  let folder: string;
  let source: TestDatabase;
  let target: TestDatabase;
  let members: Members;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    folder = await mkdtemp(join(tmpdir(), 'gateway-hostile-'));
    [source, target] = [await createTestDatabase(), await createTestDatabase()];
    await createTenant(source.database, 1_000_000);
    await createTenant(target.database, 5);
    mkdirSync(join(folder, 'target'));
    const artifacts = join(folder, 'source', 'artifacts', 'ab');
    mkdirSync(artifacts, { recursive: true });
    writeFileSync(join(artifacts, 'img_1'), 'a picture');
    const file = join(folder, 'backup');
    const made = await operate(source, 'source', 'backup', file);
    expect(made).toMatchObject({ code: 0, errors: '' });
    members = [];
    for await (const { name, content } of readBackup(Readable.from([readFileSync(file)]))) {
      members.push([name, await contentOf(content)]);
    }
  });
  afterAll(async () => {
    await source.drop();
    await target.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const operate = (database: TestDatabase, data: string, ...words: string[]) =>
    runOperatorCommand(
      {
        DATABASE_URL: database.url,
        GATEWAY_SECRET: SECRET,
        GATEWAY_DATA_DIR: join(folder, data),
      },
      ...words,
    );

  /** Includes a valid checksum, since anyone can compute one. */
  async function forge(change: (members: Members) => Members): Promise<Buffer> {
    const stream = new PassThrough();
    const bytes = contentOf(stream);
    const writer = new BackupWriter(stream);
    for (const [name, content] of change(members)) await writer.add(name, content);
    await writer.finish();
    return bytes;
  }

  const withHeader = (change: (header: Header) => unknown) =>
    forge((all) =>
      all.map(([name, content]) => {
        if (name !== 'backup.json') return [name, content];
        const header = JSON.parse(content.toString()) as Header;
        change(header);
        return [name, Buffer.from(JSON.stringify(header))];
      }),
    );
  const withTable = (table: string, change: (rows: string) => string) =>
    forge((all) =>
      all.map(([name, content]) => [
        name,
        name.startsWith(`tables/${table}/`) ? Buffer.from(change(content.toString())) : content,
      ]),
    );
  const headerBytes = (): Buffer => members[0]![1];

  /** Returns tar entries, with the checksum over the files. */
  function tarOf(...entries: [Entry, Buffer][]): Promise<Buffer> {
    const tar = pack();
    const digest = createHash('sha256');
    for (const [head, content] of entries) {
      digest.update(`${head.name}\n${content.length}\n`).update(content);
      tar.entry({ ...head, size: content.length }, content);
    }
    tar.entry({ name: 'end.json' }, JSON.stringify({ sha256: digest.digest('hex') }));
    tar.finalize();
    return contentOf(tar);
  }

  /** Returns a tar header with any size and a valid checksum. */
  function headOf(name: string, type: string, size: string | Buffer): Buffer {
    const head = Buffer.alloc(512);
    head.write(name, 0);
    head.write('0000600\0', 100);
    if (typeof size === 'string') head.write(size, 124);
    else size.copy(head, 124);
    head.write('        ', 148);
    head.write(type, 156);
    head.write('ustar\x0000', 257, 'latin1');
    head.write(
      `${head
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
    );
    return head;
  }

  const state = async (): Promise<unknown> => {
    const tenants = await target.database.query('SELECT id, name FROM tenants ORDER BY id');
    const schemas = await target.database.query(
      `SELECT nspname FROM pg_namespace WHERE nspname LIKE 'gateway%'`,
    );
    const files = existsSync(join(folder, 'target'))
      ? readdirSync(join(folder, 'target'), { recursive: true }).filter((name) => name !== 'secret')
      : [];
    return { tenants: tenants.rows, schemas: schemas.rows, files, all: readdirSync(folder).sort() };
  };

  const CASES: readonly [string, () => Promise<Buffer> | Buffer][] = [
    ...['../../../escaped', '..', '/etc/escaped', 'x\0y', '', 'a\nb'].map(
      (name): [string, () => Promise<Buffer>] => [
        `an artifact named ${JSON.stringify(name)}`,
        () => forge((all) => [[`artifacts/ab/${name}`, Buffer.from('evil')], ...all]),
      ],
    ),
    [
      'a duplicate artifact',
      () =>
        forge((all) =>
          all.flatMap(([name, content]) =>
            name.startsWith('artifacts/')
              ? [
                  [name, content],
                  ['artifacts/cd/img_1', Buffer.from('evil')],
                ]
              : [[name, content]],
          ),
        ),
    ],
    ...(['symlink', 'link', 'directory', 'character-device', 'block-device', 'fifo'] as const).map(
      (type): [string, () => Promise<Buffer>] => [
        `a ${type}`,
        async () =>
          gzipSync(
            await tarOf(
              [{ name: 'artifacts/ab/x', type, linkname: '/etc/passwd' }, Buffer.alloc(0)],
              [{ name: 'backup.json' }, headerBytes()],
            ),
          ),
      ],
    ),
    [
      'an extended header with another size',
      async () =>
        gzipSync(
          await tarOf(
            [{ name: 'backup.json', pax: { size: '99999999999' } }, headerBytes()],
            [{ name: 'counts.json' }, members.at(-1)![1]],
          ),
        ),
    ],
    [
      'members after the end',
      async () => {
        const tar = await tarOf([{ name: 'backup.json' }, headerBytes()]);
        return gzipSync(Buffer.concat([tar.subarray(0, -1024), tar]));
      },
    ],
    [
      'a long name of 8 GB',
      () => gzipSync(Buffer.concat([headOf('x', 'L', '77777777777\0'), Buffer.alloc(50_000_000)])),
    ],
    [
      'attributes of many exabytes',
      () => {
        const size = Buffer.alloc(12, 0xff);
        size[0] = 0x80;
        return gzipSync(Buffer.concat([headOf('x', 'x', size), Buffer.alloc(10_000)]));
      },
    ],
    [
      'a negative size',
      () =>
        gzipSync(Buffer.concat([headOf('backup.json', '0', '-7777777777\0'), Buffer.alloc(9_000)])),
    ],
    [
      'a description that unpacks to 600 MB',
      () => {
        const mb = gzipSync(Buffer.alloc(1_000_000, ' '));
        const head = gzipSync(headOf('backup.json', '0', '4361014400\0'));
        return Buffer.concat([head, ...Array.from({ length: 600 }, () => mb)]);
      },
    ],
    ['two descriptions', () => forge((all) => [all[0]!, ...all])],
    ['no description', () => forge((all) => all.slice(1))],
    [
      'a description that is not JSON',
      () => forge((all) => [['backup.json', Buffer.from('{')], ...all.slice(1)]),
    ],
    [
      'rows twice',
      () =>
        forge((all) =>
          all.flatMap((one) => (one[0].startsWith('tables/tenants') ? [one, one] : [one])),
        ),
    ],
    [
      'rows of a system table',
      () =>
        forge((all) => [
          ...all.slice(0, -1),
          ['tables/pg_authid/000001', Buffer.from('x')],
          all.at(-1)!,
        ]),
    ],
    [
      'SQL in the name of a column',
      () =>
        withHeader((header) =>
          header.tables[0]!.columns.push('x") FROM STDIN; DROP TABLE tenants; --'),
        ),
    ],
    [
      'a sequence beyond its range',
      () => withHeader((header) => (header.sequences[0]!.value = '99999999999999999999')),
    ],
    [
      'a control character for the terminal',
      () => withHeader((header) => (header.version = '\u001b[2Jowned')),
    ],
    [
      'months over two thousand years',
      () =>
        withHeader(
          (header) =>
            (header.partitions = Array.from(
              { length: 24_000 },
              (_, at) =>
                `x_${1000 + Math.floor(at / 12)}_${String(1 + (at % 12)).padStart(2, '0')}`,
            )),
        ),
    ],
    [
      'a balance that does not match its entries',
      () => withTable('accounts', (rows) => rows.replace('1000000', '9000000')),
    ],
    ['a negative balance', () => withTable('accounts', (rows) => rows.replace('1000000', '-5'))],
    ['a key of an unknown tenant', () => withTable('tenants', () => '')],
  ];

  it.each(CASES)('rejects %s', async (_name, make) => {
    const file = join(folder, 'evil');
    writeFileSync(file, await make());
    const before = await state();
    const memory = process.memoryUsage.rss();
    const { code, output, errors } = await operate(target, 'target', 'restore', file, '--replace');
    expect([code, output, errors]).toEqual([1, '', expect.stringMatching(/^.+\n$/)]);
    expect(errors).not.toContain('\u001b');
    expect(await state()).toEqual(before);
    expect(process.memoryUsage.rss() - memory).toBeLessThan(400_000_000);
  });

  it('treats SQL in table names as names and skips the tables', async () => {
    const evil = 'tenants"; DROP TABLE tenants; --';
    const bytes = await withHeader((header) =>
      header.tables.push({ name: evil, columns: ['a"b'] }),
    );
    const file = join(folder, 'evil');
    writeFileSync(file, bytes);
    const restored = await operate(target, 'target', 'restore', file, '--replace');
    expect(restored).toMatchObject({ code: 0, output: expect.stringContaining('NOT RESTORED') });
    expect((await target.database.query('SELECT FROM tenants')).rowCount).toBe(1);
    const [name] = readdirSync(join(folder, 'target'), {
      recursive: true,
      encoding: 'utf8',
    }).filter((path) => path.endsWith('img_1'));
    expect(readFileSync(join(folder, 'target', name!), 'utf8')).toBe('a picture');
    expect(existsSync(join(folder, 'target', 'restored-artifacts'))).toBe(false);
  });
});
