import { Injectable } from '@nestjs/common';
import { ApiKeyRepository } from '../../access/api-key.repository.js';
import type { Caller } from '../../access/caller.js';
import { AuthenticationError } from '../../common/errors/gateway-errors.js';
import { BalanceReader } from '../../ledger/balance.reader.js';
import type { CurrentKeyRecordDto } from './dto/current-key.dto.js';

@Injectable()
export class CurrentKeyService {
  constructor(
    private readonly apiKeys: ApiKeyRepository,
    private readonly balances: BalanceReader,
  ) {}

  async get({ tenantId, apiKeyId }: Caller): Promise<CurrentKeyRecordDto> {
    const key = await this.apiKeys.findOfTenant(tenantId, apiKeyId);
    if (!key) throw new AuthenticationError('The API key is unknown.');
    const limit = key.monthlySpendLimit;
    const used = limit === null ? 0 : await this.balances.usedByKey(apiKeyId, new Date());
    return {
      label: key.name,
      usage: key.totalSpend,
      limit,
      limit_remaining: limit === null ? null : Math.max(0, limit - used),
      is_free_tier: false,
      rate_limit: { requests: key.rateLimitPerMinute, interval: '1m' },
    };
  }
}
