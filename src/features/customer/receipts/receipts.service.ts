import { Inject, Injectable } from '@nestjs/common';
import type { Caller } from '../../../core/access/caller.js';
import { ReceiptReader, type RequestBill } from '../../../core/ledger/receipts/receipt.reader.js';
import { APP_CONFIG, type AppConfig } from '../../../platform/config/app-config.js';
import { SigningKeys } from '../../../core/ledger/receipts/signing-keys.service.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { NotFoundError } from '../../../platform/errors/gateway-errors.js';
import type { ReceiptDto, SignedReceiptDto } from './receipts.dto.js';

/** Issues signed, verifiable receipts of requests. */
@Injectable()
export class ReceiptsService {
  constructor(
    private readonly reader: ReceiptReader,
    private readonly keys: SigningKeys,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {}

  /** @throws NotFoundError when the tenant has no such request, or its log row was deleted */
  async get({ tenantId }: Caller, requestId: string): Promise<SignedReceiptDto> {
    const bill = isUuid(requestId) ? await this.reader.find(tenantId, requestId) : undefined;
    if (!bill) {
      throw new NotFoundError(
        'request_id',
        'There is no request with this id. Use the `x-request-id` of a completed response.',
      );
    }
    const issuer = this.config.http.publicUrl ?? null;
    const receipt = toReceipt(bill, tenantId, issuer, new Date());
    return { receipt, jws: await this.keys.sign(receipt, 'receipt+jws') };
  }
}

/** Converts a bill to a receipt. Leaves out zero prices and counts. */
function toReceipt(
  { row, usage, prices, arithmetic, refunds }: RequestBill,
  tenantId: string,
  issuer: string | null,
  issuedAt: Date,
): ReceiptDto {
  return {
    object: 'receipt',
    version: 1,
    issuer,
    issued_at: issuedAt.toISOString(),
    request: {
      id: row.requestId,
      tenant_id: tenantId,
      api_key_id: row.apiKeyId,
      endpoint: row.endpoint,
      model: row.model,
      streamed: row.streamed,
      created_at: row.createdAt.toISOString(),
    },
    answer: {
      outcome: row.outcome,
      finish_reason: row.finishReason,
      error_type: row.errorType,
      provider: row.provider,
      traffic_mode: row.trafficMode,
      cached: prices?.isCachedAnswer ?? false,
      billing_note: row.billingNote,
    },
    prices: prices && {
      id: prices.id,
      usd: { ...prices.usd },
      ...(prices.servedAs !== undefined && { served_as: prices.servedAs }),
    },
    usage: { source: row.usageSource, counts: countsOf(usage) },
    charge: {
      lines: arithmetic ? [...arithmetic.lines] : null,
      sum: arithmetic?.sum ?? null,
      rounded: arithmetic?.rounded ?? null,
      byok_fee_percent: arithmetic?.byok_fee_percent ?? null,
      beyond_hold: arithmetic?.beyond_hold ?? 0,
      shortfall: row.shortfall,
      cost: row.cost,
      parts: {
        model_charge: row.modelCharge,
        byok_platform_fee: row.byokPlatformFee,
        managed_tool_fee: row.managedToolFee,
        agent_runtime_fee: row.agentRuntimeFee,
      },
      refunds: refunds.map(({ amount, createdAt }) => ({
        amount,
        created_at: createdAt.toISOString(),
      })),
      net: refunds.reduce((net, { amount }) => net - amount, row.cost),
    },
  };
}

function countsOf(usage: RequestBill['usage']): Record<string, number> {
  const counts: Record<string, number> = {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    cache_write_1h_tokens: usage.cacheWriteLongTokens,
    reasoning_tokens: usage.reasoningTokens,
    web_searches: usage.webSearches,
    input_characters: usage.inputCharacters,
    input_bytes: usage.inputBytes,
    audio_ms: usage.audioMs,
    images: usage.imageCount,
    video_seconds: usage.videoSeconds,
  };
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
