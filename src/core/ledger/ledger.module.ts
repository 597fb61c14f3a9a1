import { Module } from '@nestjs/common';
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
    TokenCounter,
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
      'Holds that this process gave back: of processes that died, and its own without a request.',
      () => sweeper.swept,
    );
  }
}
