import { describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { PassThrough, Readable, Writable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { BackupFileError, BackupWriter, contentOf, readBackup } from './backup-archive.js';

const PARTS: [string, Buffer][] = [
  ['backup.json', Buffer.from('{}')],
  ['tables/empty/000001', Buffer.alloc(0)],
  ['tables/tenants/000001', randomBytes(70_000)],
];
const FILE = randomBytes(200_000);

async function writeSample(isFinished = true): Promise<Buffer> {
  const target = new PassThrough();
  const bytes = contentOf(target);
  const writer = new BackupWriter(target);
  for (const [name, content] of PARTS) await writer.add(name, content);
  const content = Readable.from([FILE.subarray(0, 1_000), FILE.subarray(1_000)]);
  await writer.addStream({ name: 'artifacts/ab/one', size: FILE.length, content });
  if (isFinished) await writer.finish();
  else await writer.abort(new Error('interrupted')).then(() => target.end());
  return bytes;
}

async function readAll(bytes: Buffer): Promise<[string, Buffer][]> {
  const members: [string, Buffer][] = [];
  for await (const { name, content } of readBackup(Readable.from([bytes]))) {
    members.push([name, await contentOf(content)]);
  }
  return members;
}

describe(readBackup.name, () => {
  it('returns the written members in order', async () => {
    expect(await readAll(await writeSample())).toEqual([...PARTS, ['artifacts/ab/one', FILE]]);
  });

  it('rejects a file truncated at any point', async () => {
    const bytes = await writeSample();
    for (const share of [0.01, 0.3, 0.6, 0.9, 0.999]) {
      const cut = bytes.subarray(0, Math.floor(bytes.length * share));
      await expect(readAll(cut)).rejects.toThrow(/truncated/);
    }
    // The uncompressed tar lacks only its last member.
    const tar = gunzipSync(bytes);
    const end = tar.indexOf('end.json');
    await expect(readAll(gzipSync(tar.subarray(0, end)))).rejects.toThrow(
      'The backup is truncated: its end is missing.',
    );
  });

  it('rejects a file with one changed bit', async () => {
    const tar = gunzipSync(await writeSample());
    const place = tar.indexOf(FILE.subarray(100_000, 100_016));
    tar[place] = tar[place]! ^ 1;
    await expect(readAll(gzipSync(tar))).rejects.toThrow('its checksum does not match its content');
    const bytes = await writeSample();
    bytes[bytes.length - 60_000] = bytes[bytes.length - 60_000]! ^ 1;
    await expect(readAll(bytes)).rejects.toThrow(BackupFileError);
  });

  it.each([
    ['text', Buffer.from('-- a dump of something else\n'.repeat(100))],
    ['compressed text', gzipSync('x'.repeat(5_000))],
  ])('rejects %s', async (_name, bytes) => {
    await expect(readAll(bytes)).rejects.toThrow('The file is not a backup of this service.');
  });

  it('rejects an empty file', async () => {
    await expect(readAll(Buffer.alloc(0))).rejects.toThrow(/truncated/);
  });
});

describe(BackupWriter.name, () => {
  it("rejects with the target's error", async () => {
    const target = new Writable({
      write: (_chunk, _encoding, done) => done(new Error('no space left on the device')),
    });
    const writer = new BackupWriter(target);
    const write = async (): Promise<void> => {
      for (let part = 0; part < 100; part++) await writer.add('part', randomBytes(500_000));
      await writer.finish();
    };
    await expect(write()).rejects.toThrow('no space left');
  });

  it('waits for a slow target', async () => {
    let taken = 0;
    const go: (() => void)[] = [];
    const target = new Writable({
      highWaterMark: 1,
      write(chunk: Buffer, _encoding, done) {
        taken += chunk.length;
        go.push(done);
      },
    });
    const writer = new BackupWriter(target);
    let added = 0;
    const writing = (async () => {
      for (; added < 200; added++) await writer.add('part', randomBytes(100_000));
    })();
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(added).toBeLessThan(20);
    expect(taken).toBeLessThan(1_000_000);
    await writer.abort(new Error('enough'));
    await expect(writing).rejects.toThrow();
  });

  it('leaves an incomplete file when aborted', async () => {
    await expect(writeSample(false)).rejects.toThrow();
  });
});
