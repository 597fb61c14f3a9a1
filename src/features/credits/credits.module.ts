import { Module } from '@nestjs/common';
import { LedgerModule } from '../../core/ledger/ledger.module.js';
import { RequestLogModule } from '../../core/request-log/request-log.module.js';
import { CreditsController, CustomerCreditsController } from './credits.controller.js';
import { CreditsService } from './credits.service.js';

/** Balance and spend. Reads the ledger, never writes. */
@Module({
  imports: [LedgerModule, RequestLogModule],
  controllers: [CreditsController, CustomerCreditsController],
  providers: [CreditsService],
})
export class CreditsModule {}
