import { Module } from '@nestjs/common';
import { OperatorTelemetryService } from './operator-telemetry.service.js';
import { TracingService } from './tracing.service.js';

@Module({
  providers: [TracingService, OperatorTelemetryService],
  exports: [TracingService],
})
export class TracingModule {}
