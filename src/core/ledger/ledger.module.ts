import { Module } from '@nestjs/common';
import { BalanceReader } from './balance.reader.js';
import { GrantsService } from './grants.service.js';
import { HoldSweeperService } from './hold-sweeper.service.js';
import { InstanceService } from './instance.service.js';
import { LedgerService } from './ledger.service.js';
import { RefundsService } from './refunds.service.js';
import { StatementReader } from './statement.reader.js';
import { LedgerStore } from './ledger-store.js';

@Module({
  providers: [
    BalanceReader,
    GrantsService,
    HoldSweeperService,
    InstanceService,
    LedgerService,
    LedgerStore,
    RefundsService,
    StatementReader,
  ],
  exports: [
    BalanceReader,
    GrantsService,
    HoldSweeperService,
    LedgerService,
    RefundsService,
    StatementReader,
  ],
})
export class LedgerModule {}
