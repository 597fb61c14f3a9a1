import { Module } from '@nestjs/common';
import { LedgerModule } from '../../ledger/ledger.module.js';
import { RequestLogModule } from '../../request-log/request-log.module.js';
import { CurrentKeyController } from './current-key.controller.js';
import { CurrentKeyService } from './current-key.service.js';

/** The caller's own key, for the compatibility layer: `/api/v1/key`. */
@Module({
  imports: [LedgerModule, RequestLogModule],
  controllers: [CurrentKeyController],
  providers: [CurrentKeyService],
})
export class CurrentKeyModule {}
