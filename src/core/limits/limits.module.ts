import { Module } from '@nestjs/common';
import { LedgerModule } from '../ledger/ledger.module.js';
import { TenantsModule } from '../tenants/tenants.module.js';
import { LimitsService } from './limits.service.js';

@Module({
  imports: [LedgerModule, TenantsModule],
  providers: [LimitsService],
  exports: [LimitsService],
})
export class LimitsModule {}
