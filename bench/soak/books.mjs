import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { PROJECT_ROOT } from '../../scripts/project-root.mjs';
import { costOf, usageOf } from '../answers.mjs';

const EMBEDDED_POSTGRES = 'dist/src/platform/database/embedded-postgres.js';
const BOOKS = 'dist/src/core/ledger/books.js';
const INT8_OID = 20;
/** Time limit for committing the last settlements. */
const SETTLE_LIMIT_MS = 10_000;
const POLL_MS = 250;

/**
 * Expected bookings and their check: every row of the request log by id, no other rows, no open holds,
 * and the checks of src/core/ledger/books.ts.
 */
export class Books {
  #place;
  /** By request id. */
  #expected = new Map();

  /** @param place the data folder of an embedded database, or a database URL */
  constructor(place) {
    this.#place = place;
  }

  /** Number of requests that must be in the log. */
  get size() {
    return this.#expected.size;
  }

  /** Records a complete and correct response. */
  expectAnswer(model, { requestId, cost, request: { user } }) {
    const { promptTokens, completionTokens } = usageOf(user);
    this.expect(requestId, {
      model,
      outcome: 'completed',
      source: 'upstream',
      cost,
      promptTokens: [promptTokens, promptTokens],
      completionTokens: [completionTokens, completionTokens],
    });
  }

  /**
   * Records any other request that must be in the log.
   *
   * @param row its `model`, `outcome` and `source`; `cost` if it does not follow from the tokens; minimum
   *   and maximum `promptTokens` and `completionTokens` if known
   */
  expect(requestId, row) {
    this.#expected.set(requestId, row);
  }

  /**
   * Works while the gateway runs and after it has stopped, when its PostgreSQL is started temporarily.
   * @returns descriptions of differences, and the number of open holds
   */
  findFaults() {
    return this.#withDatabase(async (client) => {
      const holds = await waitForHolds(client);
      const faults = this.#findLogFaults(await readLog(client));
      return { faults: [...faults, ...(await findImbalances(client))], holds };
    });
  }

  /** Like `findFaults`, without expectations about the log. */
  findImbalances() {
    return this.#withDatabase(async (client) => {
      const holds = await waitForHolds(client);
      return { faults: await findImbalances(client), holds };
    });
  }

  /** Runs a query. @returns the rows */
  query(statement, values) {
    return this.#withDatabase(async (client) => (await client.query(statement, values)).rows);
  }

  /** Reads every row of the request log, oldest first. */
  readLog() {
    return this.#withDatabase(readLog);
  }

  #findLogFaults(rows) {
    const faults = [];
    const missing = new Set(this.#expected.keys());
    for (const row of rows) {
      const isKnown = missing.delete(row.request_id);
      const fault = isKnown
        ? findRowFault(row, this.#expected.get(row.request_id))
        : 'is in the log, but was not requested';
      if (fault) faults.push(`${row.request_id} (${row.model}) ${fault}`);
    }
    for (const id of missing) {
      faults.push(`${id} (${this.#expected.get(id).model}) is not in the log`);
    }
    return faults;
  }

  async #withDatabase(work) {
    if (this.#place.startsWith('postgres:')) return withClient(this.#place, work);
    const { attachEmbeddedPostgres } = await importBuilt(EMBEDDED_POSTGRES);
    const database = await attachEmbeddedPostgres({ dataDirectory: this.#place });
    try {
      return await withClient(database.url, work);
    } finally {
      await database.stop();
    }
  }
}

async function withClient(connectionString, work) {
  const client = new pg.Client({
    connectionString,
    types: {
      getTypeParser: (oid, format) =>
        oid === INT8_OID ? Number : pg.types.getTypeParser(oid, format),
    },
  });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs the service's own checks of its books. @returns descriptions of faults */
async function findImbalances(client) {
  const { findBookFaults } = await importBuilt(BOOKS);
  const faults = await findBookFaults(client, { isLogWhole: true });
  return faults.map((fault) => `the books do not balance: ${fault}`);
}

function importBuilt(path) {
  return import(pathToFileURL(join(PROJECT_ROOT, path)).href);
}

async function readLog(client) {
  const { rows } = await client.query('SELECT * FROM request_logs ORDER BY created_at, id');
  return rows;
}

/** Returns the number of open holds, once there are none or the time is up. */
async function waitForHolds(client) {
  const limitMs = Date.now() + SETTLE_LIMIT_MS;
  for (;;) {
    const { rows } = await client.query('SELECT count(*) AS holds FROM holds');
    if (rows[0].holds === 0 || Date.now() > limitMs) return rows[0].holds;
    await wait(POLL_MS);
  }
}

function findRowFault(row, expected) {
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = row;
  if (row.model !== expected.model) return `is not of ${expected.model}`;
  if (row.outcome !== expected.outcome) return `is ${row.outcome}, not ${expected.outcome}`;
  if (row.usage_source !== expected.source) return `has its usage from ${row.usage_source}`;
  if (row.shortfall !== 0) return `has a shortfall of ${row.shortfall}`;
  const cost = expected.cost ?? costOf({ promptTokens, completionTokens });
  if (row.cost !== cost) return `cost ${row.cost}, not ${cost}`;
  return (
    findRangeFault('prompt tokens', promptTokens, expected.promptTokens) ??
    findRangeFault('completion tokens', completionTokens, expected.completionTokens)
  );
}

function findRangeFault(what, count, [least, most] = [0, Infinity]) {
  if (count >= least && count <= most) return undefined;
  return `has ${count} ${what}, not ${least} to ${most}`;
}
