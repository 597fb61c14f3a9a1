import { Module } from '@nestjs/common';
import { LedgerModule } from '../../core/ledger/ledger.module.js';
import { CreditsController } from './credits.controller.js';
import { CreditsService } from './credits.service.js';
import { CustomerCreditsController } from './customer-credits.controller.js';

/** Balance and spend. Reads the ledger, never writes. */
@Module({
  imports: [LedgerModule],
  controllers: [CreditsController, CustomerCreditsController],
  providers: [CreditsService],
})
export class CreditsModule {}
