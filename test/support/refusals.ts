import { expect } from '@jest/globals';
import type { BootedGateway } from './boot-gateway.js';
import { expectError, partsOf, type AnswerParts } from './error-answers.js';
import { findLedgerFaults, readLedger } from './ledger-invariants.js';
import { CHAT } from './paths.js';
import type { RawAnswer } from './raw-connection.js';

export const USER = { role: 'user', content: 'Hello' };
const CREDITS = 10_000_000;

/**
 * Sends bad requests among good ones and accounts for both: a refusal must leave no trace and not harm
 * concurrent requests. The gateway needs the credits from `refusalSettings`.
 */
export class Refusals {
  /** Ids of completed requests. */
  readonly goodIds: string[] = [];
  private readonly refusedIds: string[] = [];

  constructor(private readonly gateway: BootedGateway) {}

  chat(fields: object): Promise<Response> {
    return this.gateway.post(CHAT, { model: 'sandbox/echo', messages: [USER], ...fields });
  }

  /** POSTs a body unchanged. */
  raw(body: string | Buffer, headers: Record<string, string> = {}): Promise<Response> {
    return this.gateway.fetch(CHAT, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
  }

  /** Sends something while a good request is running. */
  async amidGood<Answer>(send: () => Promise<Answer>): Promise<Answer> {
    const [answer, response] = await Promise.all([send(), this.chat({})]);
    expect(response.status).toBe(200);
    await response.text();
    this.goodIds.push(response.headers.get('x-request-id')!);
    return answer;
  }

  async expectRefused(
    send: () => Promise<Response>,
    status: number,
    param: string,
    type = 'invalid_request_error',
  ): Promise<void> {
    this.expectRefusal(await this.amidGood(async () => partsOf(await send())), status, param, type);
  }

  expectRefusal(
    answer: AnswerParts | RawAnswer,
    status: number,
    param: string,
    type = 'invalid_request_error',
  ): void {
    const parts =
      'headers' in answer ? { ...answer, header: (name: string) => answer.headers[name] } : answer;
    this.refusedIds.push(expectError(parts, status, type, param));
  }

  /** Checks, as the last step, that the service is alive and its ledger contains only the good requests. */
  async expectNoTrace(): Promise<void> {
    await this.amidGood(async () => undefined);
    expect((await fetch(`${this.gateway.url}/healthz`)).status).toBe(200);
    const { database } = this.gateway;
    const { rows } = await database.query<{ request_id: string; outcome: string; cost: number }>(
      'SELECT request_id, outcome, cost FROM request_logs',
    );
    expect(rows.map((row) => row.request_id).sort()).toEqual([...this.goodIds].sort());
    expect(rows.filter(({ outcome, cost }) => outcome !== 'completed' || cost <= 0)).toEqual([]);
    expect(new Set(this.refusedIds).size).toBe(this.refusedIds.length);

    expect(await findLedgerFaults(database)).toEqual([]);
    const spent = rows.reduce((sum, row) => sum + row.cost, 0);
    const [account] = await readLedger(database);
    expect(account).toMatchObject({ balance: CREDITS - spent, held: 0, holds: 0 });
    const { rows: holds } = await database.query('SELECT request_id FROM holds');
    expect(holds).toEqual([]);
  }
}

export const refusalSettings = { GATEWAY_BOOTSTRAP_CREDITS: String(CREDITS) };
