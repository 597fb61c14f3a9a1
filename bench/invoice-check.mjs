import { URLSearchParams } from 'node:url';
import { request } from 'undici';
import { usageOf } from './answers.mjs';

const PAGE_SIZE = 100;
const PAGES_AT_ONCE = 3;

/**
 * Compares what the gateway booked, according to its own API, with what the driver calculated from
 * usage and prices: the account's totals, and every row of the request log by id.
 */
export class InvoiceCheck {
  #origin;
  #headers;
  #before;
  /** Responses since `begin` by alias and request id. */
  #expected = new Map();

  constructor(origin, apiKey) {
    this.#origin = origin;
    this.#headers = { authorization: `Bearer ${apiKey}` };
  }

  /** Call before the first request of a row. */
  async begin() {
    this.#expected.clear();
    this.#before = (await this.#get('/v1/customer/credits')).lifetime;
  }

  /** Records a correct response. */
  expect(alias, { requestId, cost, request: { user } }) {
    let rows = this.#expected.get(alias);
    if (!rows) this.#expected.set(alias, (rows = new Map()));
    rows.set(requestId, { cost, user });
  }

  /** Returns descriptions of differences; empty when every request was booked exactly once. */
  async findFaults(alias) {
    const expected = this.#expected.get(alias) ?? new Map();
    let cost = 0;
    for (const row of expected.values()) cost += row.cost;

    const faults = [];
    const { balance, lifetime } = await this.#get('/v1/customer/credits');
    const requests = lifetime.requests - this.#before.requests;
    const spent = lifetime.spent - this.#before.spent;
    if (requests !== expected.size) {
      faults.push(`${alias}: ${requests} requests counted, not ${expected.size}`);
    }
    if (spent !== cost) faults.push(`${alias}: ${spent} credits charged, not ${cost}`);
    if (balance.held !== 0) faults.push(`${alias}: ${balance.held} credits are still held`);
    return [...faults, ...(await this.#findLogFaults(alias, expected))];
  }

  async #findLogFaults(alias, expected) {
    const faults = [];
    const missing = new Set(expected.keys());
    const first = await this.#page(alias, 0);
    const { total } = first.pagination;
    if (total !== expected.size) {
      faults.push(`${alias}: ${total} rows in the log, not ${expected.size}`);
    }
    const read = ({ logs }) => {
      for (const row of logs) {
        const known = missing.delete(row.request_id) && expected.get(row.request_id);
        const fault = known ? findRowFault(row, known) : 'is in the log, but was not requested';
        if (fault && faults.length < 10) faults.push(`${alias}: ${row.request_id} ${fault}`);
      }
    };
    read(first);

    let offset = PAGE_SIZE;
    const work = async () => {
      while (offset < total) {
        const from = offset;
        offset += PAGE_SIZE;
        read(await this.#page(alias, from));
      }
    };
    await Promise.all(Array.from({ length: PAGES_AT_ONCE }, work));
    if (missing.size > 0) faults.push(`${alias}: ${missing.size} requests are not in the log`);
    return faults;
  }

  #page(alias, offset) {
    const query = new URLSearchParams({ model: alias, limit: String(PAGE_SIZE), offset });
    return this.#get(`/v1/customer/logs?${query}`);
  }

  async #get(path) {
    const { statusCode, body } = await request(this.#origin + path, { headers: this.#headers });
    if (statusCode !== 200) throw new Error(`${path}: status ${statusCode}: ${await body.text()}`);
    return body.json();
  }
}

function findRowFault(row, { cost, user }) {
  const usage = usageOf(user);
  if (row.cost !== cost) return `cost ${row.cost}, not ${cost}`;
  if (row.outcome !== 'completed') return `is ${row.outcome}`;
  if (row.usage_source !== 'upstream') return `has its usage from ${row.usage_source}`;
  const isRight =
    row.tokens.prompt === usage.promptTokens && row.tokens.completion === usage.completionTokens;
  return isRight ? undefined : `has tokens ${JSON.stringify(row.tokens)}`;
}
