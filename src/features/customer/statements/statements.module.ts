import { Module } from '@nestjs/common';
import { LedgerModule } from '../../../core/ledger/ledger.module.js';
import { StatementsController } from './statements.controller.js';
import { StatementsService } from './statements.service.js';

/** The tenant's ledger, month by month: `/v1/customer/statements`. */
@Module({
  imports: [LedgerModule],
  controllers: [StatementsController],
  providers: [StatementsService],
})
export class StatementsModule {}
