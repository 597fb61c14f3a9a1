import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountEntity, AccountMonthEntity, KeyMonthEntity } from './account.entity.js';
import { BudgetSpendEntity } from './budget-spend.entity.js';
import { HoldEntity, KeyHoldEntity, LimitHoldEntity } from './hold.entity.js';
import { InstanceEntity } from './instance.entity.js';
import { LedgerEntryEntity } from './ledger-entry.entity.js';
import { PriceSnapshotEntity } from './receipts/price-snapshot.entity.js';
import { SigningKeyEntity } from './receipts/signing-key.entity.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { BalanceReader } from './balance.reader.js';
import { BooksService } from './books.service.js';
import { BudgetReader } from './budget.reader.js';
import { GrantsService } from './grants.service.js';
import { HoldSweeperService } from './hold-sweeper.service.js';
import { InstanceService } from './instance.service.js';
import { AbandonedAnswers } from './abandoned-answers.js';
import { LedgerRetentionService } from './ledger-retention.service.js';
import { LedgerService } from './ledger.service.js';
import { MonthPartitionsService } from './month-partitions.service.js';
import { RefundsService } from './refunds.service.js';
import { StatementReader } from './statement.reader.js';
import { LedgerStore } from './ledger-store.js';
import { SettlementJournal } from './settlement-journal.js';
import { SettlementRecovery } from './settlement-recovery.service.js';
import { TokenCounter } from './token-counter.js';
import { UsualOutput } from './usual-output.service.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([
      AccountEntity,
      AccountMonthEntity,
      BudgetSpendEntity,
      HoldEntity,
      InstanceEntity,
      KeyHoldEntity,
      KeyMonthEntity,
      LedgerEntryEntity,
      LimitHoldEntity,
      PriceSnapshotEntity,
      SigningKeyEntity,
    ]),
  ],
  providers: [
    BalanceReader,
    BooksService,
    BudgetReader,
    GrantsService,
    HoldSweeperService,
    InstanceService,
    AbandonedAnswers,
    LedgerRetentionService,
    LedgerService,
    LedgerStore,
    MonthPartitionsService,
    RefundsService,
    SettlementJournal,
    SettlementRecovery,
    StatementReader,
    { provide: TokenCounter, useFactory: () => new TokenCounter() },
    UsualOutput,
  ],
  exports: [
    BalanceReader,
    BooksService,
    BudgetReader,
    GrantsService,
    HoldSweeperService,
    InstanceService,
    LedgerService,
    LedgerStore,
    RefundsService,
    StatementReader,
    TokenCounter,
    UsualOutput,
  ],
})
export class LedgerModule {
  constructor(metrics: GatewayMetrics, sweeper: HoldSweeperService) {
    metrics.trackTotal(
      'gateway_holds_swept_total',
      'Holds released by this process: of dead processes, and its own without a request.',
      () => sweeper.swept,
    );
  }
}
