import { Global, Module } from '@nestjs/common';
import { AuditLog } from './audit-log.js';

/** Global, because every feature that changes something needs it. */
@Global()
@Module({ providers: [AuditLog], exports: [AuditLog] })
export class AuditModule {}
