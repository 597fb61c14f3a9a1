import { Module } from '@nestjs/common';
import { RequestLogModule } from '../../../core/ledger/request-log/request-log.module.js';
import { LogsController } from './logs.controller.js';
import { LogsService } from './logs.service.js';

/** The tenant's own requests: `/v1/customer/logs`. */
@Module({
  imports: [RequestLogModule],
  controllers: [LogsController],
  providers: [LogsService],
})
export class LogsModule {}
