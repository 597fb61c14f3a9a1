import { Module } from '@nestjs/common';
import { LedgerModule } from '../ledger/ledger.module.js';
import { RoutingModule } from '../routing/routing.module.js';
import { MessagesController } from './messages.controller.js';
import { MessagesService } from './messages.service.js';

@Module({
  imports: [RoutingModule, LedgerModule],
  controllers: [MessagesController],
  providers: [MessagesService],
})
export class MessagesModule {}
