import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../core/access/caller.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { NotFoundError } from '../../../platform/errors/gateway-errors.js';
import type { RequestLogRow } from '../../../core/ledger/request-log/request-log-row.js';
import { RequestLogReader } from '../../../core/ledger/request-log/request-log.reader.js';

@Injectable()
export class GenerationService {
  constructor(private readonly requestLog: RequestLogReader) {}

  /** @throws NotFoundError when the tenant has made no request with this id */
  async get(caller: Caller, requestId: string): Promise<RequestLogRow> {
    const row = isUuid(requestId)
      ? await this.requestLog.findByRequestId(caller.tenantId, requestId)
      : undefined;
    if (!row) {
      throw new NotFoundError(
        'id',
        'There is no request with this id. It is the `x-request-id` of an answer that has ended.',
      );
    }
    return row;
  }
}
