import { Injectable, Logger } from '@nestjs/common';
import { FREE } from '../../../canonical/exact-pricing.js';
import type { Usage } from '../../../canonical/usage.js';
import { Database } from '../../../platform/database/database.js';
import { InternalError } from '../../../platform/errors/gateway-errors.js';
import type { RequestLogRow } from '../../request-log/request-log-row.js';
import { RequestLogReader } from '../../request-log/request-log.reader.js';
import { explainCharge, type ChargeArithmetic } from './explain-charge.js';
import { readOtherUsage } from '../../request-log/other-usage.js';
import { pricesInUsd, readPriceSnapshot } from './price-snapshot.js';

/** A request with its charge and how the charge was computed. */
export interface RequestBill {
  readonly row: RequestLogRow;
  readonly usage: Usage;
  /** Null when nothing was charged, or the request predates stored prices. */
  readonly prices: {
    readonly id: string;
    /** The non-zero prices by name. */
    readonly usd: Readonly<Record<string, string>>;
    readonly isCachedAnswer: boolean;
    /** The service tier, region, or both of these prices; undefined: the standard prices. */
    readonly servedAs?: string | undefined;
  } | null;
  /** Undefined when the request predates stored prices. */
  readonly arithmetic: ChargeArithmetic | undefined;
  readonly refunds: readonly { readonly amount: number; readonly createdAt: Date }[];
}

/** Explains the cost of a request from the records of its settlement. */
@Injectable()
export class ReceiptReader {
  private readonly logger = new Logger(ReceiptReader.name);

  constructor(
    private readonly requestLog: RequestLogReader,
    private readonly database: Database,
  ) {}

  /**
   * @param requestId a UUID
   * @throws ArchiveUnavailableError, or InternalError when the computation does not produce the cost
   */
  async find(tenantId: string, requestId: string): Promise<RequestBill | undefined> {
    const row = await this.requestLog.findByRequestId(tenantId, requestId);
    if (!row) return undefined;
    const { rows } = await this.database.query<{ sheet: unknown; refunds: Refund[] | null }>(READ, [
      row.priceSheet,
      tenantId,
      row.requestId,
    ]);
    const { sheet, refunds } = rows[0]!;
    const stored = readPriceSnapshot(sheet);
    const usage: Usage = {
      ...readOtherUsage(row.otherUsage),
      inputTokens: row.promptTokens,
      outputTokens: row.completionTokens,
      cacheReadTokens: row.cacheReadTokens,
      cacheWriteTokens: row.cacheWriteTokens,
      reasoningTokens: row.reasoningTokens,
    };
    try {
      return {
        row,
        usage,
        prices:
          stored && row.priceSheet !== null
            ? {
                id: row.priceSheet,
                usd: pricesInUsd(stored.pricing),
                isCachedAnswer: stored.pricing === FREE,
                servedAs: stored.servedAs,
              }
            : null,
        arithmetic: stored || isFree(row) ? explainCharge(row, usage, stored) : undefined,
        refunds: (refunds ?? []).map(({ amount, at }) => ({ amount, createdAt: new Date(at) })),
      };
    } catch (error) {
      // Never sign a receipt that does not add up.
      this.logger.error(error, { request_id: requestId });
      throw new InternalError({ cause: error });
    }
  }
}

interface Refund {
  amount: number;
  at: string;
}

const READ = `
  SELECT (SELECT sheet FROM price_sheets WHERE id = $1) AS sheet,
    (SELECT json_agg(json_build_object('amount', amount, 'at', created_at) ORDER BY created_at)
       FROM ledger_entries
      WHERE tenant_id = $2 AND request_id = $3 AND kind = 'refund') AS refunds`;

/** Returns whether a request cost nothing; complete answers always have prices. */
function isFree({ outcome, cost, shortfall }: RequestLogRow): boolean {
  return outcome !== 'completed' && cost + shortfall === 0;
}
