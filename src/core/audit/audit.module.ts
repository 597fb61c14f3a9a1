import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditLogEntryEntity } from './audit-log-entry.entity.js';
import { AuditLog } from './audit-log.js';
import { AuditLogReader } from './audit-log.reader.js';
import { AuditLogRetentionService } from './audit-log-retention.service.js';
import { AuditLogService } from './audit-log.service.js';

/** Global, because every feature with changes needs it. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([AuditLogEntryEntity])],
  providers: [AuditLog, AuditLogReader, AuditLogRetentionService, AuditLogService],
  exports: [AuditLog, AuditLogService],
})
export class AuditModule {}
