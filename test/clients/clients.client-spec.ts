import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatTable } from '../../src/operator/format-table.js';
import { VendorFleet } from '../contract/vendor-fleet.js';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { AGENT_CLIENTS } from './agent-clients.js';
import { DESCRIPTION_CLIENTS } from './description-clients.js';
import { PROGRAM_CLIENTS } from './program-clients.js';
import { answerLikeAModel, TEXT } from './scripted-model.js';
import { findMissing, type CallResult } from './run-client.js';

/** Kept between runs, since installing takes minutes; may be deleted at any time. */
const CACHE = join(tmpdir(), 'model-gateway-clients');

const ALL = [...AGENT_CLIENTS, ...PROGRAM_CLIENTS, ...DESCRIPTION_CLIENTS];

/** Filters clients by name: `npm run clients -- <word> …`. */
const WANTED = (process.env.CLIENTS ?? '').toLowerCase().split(',').filter(Boolean);

const CLIENTS = ALL.filter(
  ({ name }) =>
    WANTED.length === 0 || WANTED.some((word) => name.toLowerCase().includes(word.trim())),
);

describe('unmodified clients with fakes of every vendor', () => {
  const rows: string[][] = [];
  const failures: string[] = [];
  let fleet: VendorFleet;

  beforeAll(async () => {
    await mkdir(CACHE, { recursive: true });
    fleet = await VendorFleet.start({ GATEWAY_TRUSTED_PROXIES: '127.0.0.1' });
    fleet.members.forEach(answerLikeAModel);
  });
  afterAll(async () => {
    const table = formatTable([['client', 'call', 'result'], ...rows]);
    process.stdout.write(`\n${[...table, ...failures].join('\n')}\n\n`);
    expect(await findLedgerFaults(fleet.gateway.database)).toEqual([]);
    await fleet.close();
  });

  it.each(CLIENTS)('$name', async (client) => {
    const missing = findMissing(client.needs);
    if (missing.length > 0) {
      rows.push([client.name, '-', `left out: no ${missing.join(', ')} on the PATH`]);
      return;
    }
    const results = await client
      .install(CACHE)
      .then(() =>
        client.run(CACHE, {
          url: fleet.gateway.url,
          apiKey: fleet.gateway.apiKey,
          models: fleet.members.map(({ model }) => model),
          text: TEXT,
        }),
      )
      .catch((error: unknown) => [{ call: 'to install', model: '-', failure: String(error) }]);
    note(client.name, results);
    const failed = results.filter(({ failure }) => failure !== null);
    expect(failed.map(({ call, model }) => `${call}, ${model}`)).toEqual([]);
  });

  function note(client: string, results: readonly CallResult[]): void {
    for (const call of new Set(results.map((result) => result.call))) {
      const all = results.filter((result) => result.call === call);
      const failed = all.filter(({ failure }) => failure !== null);
      const names = failed.map(({ model }) => model.replace('-test/model', ''));
      const result = failed.length === 0 ? `ok (${all.length})` : `FAILED: ${names.join(', ')}`;
      rows.push([client, call, result]);
      const { model, failure } = failed[0] ?? {};
      if (failure) failures.push(`\n${client}, ${call}, ${model}:\n${failure}`);
    }
  }
});
