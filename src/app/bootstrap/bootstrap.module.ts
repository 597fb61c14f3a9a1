import { Module } from '@nestjs/common';
import { LedgerModule } from '../../core/ledger/ledger.module.js';
import { BootstrapService } from './bootstrap.service.js';

/** What the first start makes. */
@Module({
  imports: [LedgerModule],
  providers: [BootstrapService],
  exports: [BootstrapService],
})
export class BootstrapModule {}
