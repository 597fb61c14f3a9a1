import { Global, Module } from '@nestjs/common';
import { AuditLog } from './audit-log.js';
import { AuditLogReader } from './audit-log.reader.js';
import { AuditLogRetentionService } from './audit-log-retention.service.js';
import { AuditLogService } from './audit-log.service.js';

/** Global, because every feature with changes needs it. */
@Global()
@Module({
  providers: [AuditLog, AuditLogReader, AuditLogRetentionService, AuditLogService],
  exports: [AuditLog, AuditLogService],
})
export class AuditModule {}
