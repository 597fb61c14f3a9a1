import { Module } from '@nestjs/common';
import { LedgerModule } from '../../../core/ledger/ledger.module.js';
import { RequestLogModule } from '../../../core/ledger/request-log/request-log.module.js';
import { CurrentKeyController } from './current-key.controller.js';
import { CurrentKeyService } from './current-key.service.js';

/** The caller's own key, for the compatibility layer: `/api/v1/key`. */
@Module({
  imports: [LedgerModule, RequestLogModule],
  controllers: [CurrentKeyController],
  providers: [CurrentKeyService],
})
export class CurrentKeyModule {}
