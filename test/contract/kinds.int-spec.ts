import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { formatTable } from '../../src/operator/format-table.js';
import { HttpTransport } from '../../src/vendors/transport/http-transport.js';
import { MediaFetcher } from '../../src/vendors/transport/media-fetcher.js';
import { VENDOR_KINDS, type Vendor } from '../../src/vendors/vendor.js';
import { vendorOf, VENDORS } from '../../src/vendors/vendors.js';
import { imaginary } from '../support/imaginary-vendor/imaginary.vendor.js';
import { silentWave } from '../support/spoken-audio.js';
import { within } from '../support/within.js';
import { ALL_KINDS } from './kinds/all-kinds.js';
import { CHAT_FEATURES, doWork, type KindContract, type Outcome } from './kinds/kind-contract.js';
import { reply, startScriptedServer, type Script, type ScriptedServer } from './scripted-server.js';

const KEY = 'key-of-the-contract-suite';
/** Chat failures do not depend on the feature, so one chat contract suffices. */
const NETWORKED = ALL_KINDS.filter(
  ({ answers, feature }) => answers.length > 0 && feature === undefined,
);
const TITLE = '$kind at $vendor';

const ERRORS = 'errors';
/** Columns of the table; `text` is a chat without further features. */
const COLUMNS = ['text', ...CHAT_FEATURES, ...VENDOR_KINDS.slice(1), ERRORS];

/** By vendor and column: passed cases, all cases, and whether the vendor rejects them. */
const verdicts = new Map<string, { passed: number; all: number; isRefused: boolean }>();
const nameOf = ({ vendor, kind }: Pick<KindContract, 'vendor' | 'kind'>) => `${vendor} ${kind}`;
const columnOf = ({ kind, feature }: KindContract): string =>
  kind === 'chat' ? (feature ?? 'text') : kind;

describe('kinds of work that vendors offer', () => {
  let server: ScriptedServer;
  let transport: HttpTransport;
  let folder: string;
  let path: string;
  const audio = silentWave(1_600);

  beforeAll(async () => {
    server = await startScriptedServer((_call, response) => void response.destroy());
    transport = new HttpTransport(1_000);
    folder = await mkdtemp(join(tmpdir(), 'kinds-'));
    path = join(folder, 'a.wav');
    await writeFile(path, audio);
  });
  beforeEach(() => {
    server.calls.length = 0;
  });
  afterAll(async () => {
    await transport.onApplicationShutdown();
    await server.close();
    await rm(folder, { recursive: true });
    printTable();
  });

  /** Does the work with a server that gives these answers. */
  function work(
    contract: KindContract,
    script: Script,
    signal = new AbortController().signal,
  ): Promise<Outcome> {
    const { id, name, type, createAdapter } = vendorOf(contract.vendor)!;
    const { basePath = '', settings = {} } = contract;
    const baseUrl = server.origin + basePath;
    const provider = { id, name, type, adapter: id, baseUrl, apiKey: KEY, settings };
    const mediaFetcher = new MediaFetcher({ allowPrivate: false });
    server.script = script;
    const recording = { path, sizeBytes: audio.length };
    return doWork(createAdapter(provider, { transport, mediaFetcher }), contract, {
      recording,
      signal,
    });
  }
  const failed = (status: number): Script => {
    const message = `No, ${KEY}.`;
    const body = { message, error: { message, code: status, status: 'NO', type: 'no' } };
    return reply(status, { 'content-type': 'application/json' }, Buffer.from(JSON.stringify(body)));
  };
  const noted =
    (check: (contract: KindContract) => Promise<void>, column?: string) =>
    async (contract: KindContract) => {
      const name = `${contract.vendor} ${column ?? columnOf(contract)}`;
      const isRefused = contract.isRefused ?? false;
      const verdict = verdicts.get(name) ?? { passed: 0, all: 0, isRefused };
      verdicts.set(name, verdict);
      verdict.all++;
      await check(contract);
      verdict.passed++;
    };

  it.each(VENDORS)('have a contract each: $id', (vendor) => {
    expect(withoutContract(vendor)).toEqual([]);
  });

  it('lack a contract as soon as a vendor offers more', () => {
    expect(withoutContract(imaginary)).toEqual(['imaginary chat']);
    const bold: Vendor = { ...vendorOf('anthropic')!, kinds: ['chat', 'video'] };
    expect(withoutContract(bold)).toEqual(['anthropic video']);
  });

  it('are offered by the vendor of their contract', () => {
    const offered = VENDORS.flatMap(({ id: vendor, kinds }) =>
      kinds.map((kind) => nameOf({ vendor, kind })),
    );
    expect(ALL_KINDS.map(nameOf).filter((name) => !offered.includes(name))).toEqual([]);
  });

  it.each(ALL_KINDS.map((contract) => ({ ...contract, what: columnOf(contract) })))(
    '$what at $vendor succeeds',
    noted(async (contract) => {
      const { answers, expected, sent: sent, isRefused } = contract;
      const working = work(contract, (call, response) => {
        const { status, headers, body } = answers[server.calls.length - 1]!;
        return reply(status, headers, body)(call, response);
      });
      if (isRefused) {
        await expect(working).rejects.toMatchObject({ failure: 'unsupported' });
        expect(server.calls).toHaveLength(0);
        return;
      }
      const outcome = await working;
      expect(server.calls).toHaveLength(answers.length);
      if (sent !== undefined) expect(server.calls[0]!.body.toString()).toContain(sent);
      if (!expected) return expect(outcome.content).not.toHaveLength(0);
      expect(outcome.content).toEqual(expected.content);
      if (expected.usage) expect(outcome.usage).toMatchObject(expected.usage);
      else expect(outcome.usage).toBeUndefined();
    }),
  );

  it.each(NETWORKED)(
    `${TITLE} falls back while the vendor is busy`,
    noted(async (contract) => {
      await expect(work(contract, failed(429))).rejects.toMatchObject({ failure: 'rate_limited' });
      expect(server.calls).toHaveLength(1);
    }, ERRORS),
  );

  it.each(NETWORKED)(
    `${TITLE} fails as the operator's fault when the key is rejected, and keeps the key secret`,
    noted(async (contract) => {
      const refused = work(contract, failed(401));
      await expect(refused).rejects.toMatchObject({ failure: 'operator' });
      await expect(refused).rejects.not.toThrow(KEY);
    }, ERRORS),
  );

  it.each(NETWORKED)(
    `${TITLE} does not accept a proxy's web page`,
    noted(async (contract) => {
      const page = Buffer.from('<html>Welcome</html>');
      const working = work(contract, reply(200, { 'content-type': 'text/html' }, page));
      await expect(working).rejects.toMatchObject({ failure: 'unreadable' });
    }, ERRORS),
  );

  it.each(NETWORKED)(
    `${TITLE} fails when the vendor hangs up`,
    noted(async (contract) => {
      const [{ headers, body } = { headers: {}, body: Buffer.alloc(0) }] = contract.answers;
      const working = work(contract, async (_call, response) => {
        response.writeHead(200, { ...headers, 'content-length': body.length });
        await new Promise<void>((resolve) => response.write(body.subarray(0, 10), () => resolve()));
        response.destroy();
      });
      await expect(working).rejects.toMatchObject({ name: 'UpstreamError' });
    }, ERRORS),
  );

  it.each(NETWORKED)(
    `${TITLE} ends when the caller leaves`,
    noted(async (contract) => {
      const leaving = new AbortController();
      const working = work(contract, () => leaving.abort(), leaving.signal);
      await expect(working).rejects.toThrow();
      await within(30_000, server.calls[0]!.hungUp);
    }, ERRORS),
  );
});

/** Returns kinds that a vendor offers without a contract. */
function withoutContract({ id: vendor, kinds }: Vendor): string[] {
  const covered = ALL_KINDS.map(nameOf);
  return kinds.map((kind) => nameOf({ vendor, kind })).filter((name) => !covered.includes(name));
}

/** Returns whether a vendor offers a column of the table. */
function offers({ id, kinds }: Vendor, column: string): boolean {
  if (column === ERRORS) return ALL_KINDS.some(isOf(id));
  const isChat = column === 'text' || CHAT_FEATURES.some((feature) => feature === column);
  return kinds.some((kind) => (isChat ? kind === 'chat' : kind === column));
}

/** Returns whether a contract is with this vendor. */
const isOf = (id: string) => (contract: KindContract) =>
  contract.vendor === id && contract.answers.length > 0;

/** Prints vendors by kind with the passed cases; `-` marks kinds that a vendor does not offer. */
function printTable(): void {
  const rows = VENDORS.map((vendor) => [
    vendor.id,
    ...COLUMNS.map((column) => {
      if (!offers(vendor, column)) return '-';
      const verdict = verdicts.get(`${vendor.id} ${column}`);
      if (!verdict) return 'NO CASE';
      const { passed, all, isRefused } = verdict;
      if (passed < all) return `${all - passed} FAILED`;
      if (isRefused) return 'refused';
      return all === 1 ? 'ok' : `${all} ok`;
    }),
  ]);
  // Bypasses the console, which Jest decorates line by line.
  process.stdout.write(`\n${formatTable([['vendor', ...COLUMNS], ...rows]).join('\n')}\n\n`);
}
