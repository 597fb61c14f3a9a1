import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { BroadcastBatchEntity } from './broadcast-batch.entity.js';
import { BroadcastDeliveryEntity } from './broadcast-delivery.entity.js';
import { BroadcastDestinationEntity } from './broadcast-destination.entity.js';
import { OutboundModule } from '../../platform/outbound/outbound.module.js';
import { TracingModule } from '../../core/tracing/tracing.module.js';
import { BroadcastMetrics } from './broadcast-metrics.js';
import { DeliveryWriter } from './delivery-writer.service.js';
import { DeliveryRepository } from './delivery.repository.js';
import { DeliveryService } from './delivery.service.js';
import { DestinationDirectory } from './destination-directory.service.js';
import { DestinationRepository } from './destination.repository.js';
import { DestinationsController } from './destinations.controller.js';
import { DestinationsService } from './destinations.service.js';
import { HeaderEncryption } from './destination-headers.js';
import { LostTraces } from './lost-traces.service.js';
import { RenderedBatches } from './rendered-batches.service.js';
import { TraceBuffer } from './trace-buffer.service.js';

/** Sends traces of opted-in requests to tenants' collectors. */
@Module({
  imports: [
    TypeOrmModule.forFeature([
      BroadcastBatchEntity,
      BroadcastDeliveryEntity,
      BroadcastDestinationEntity,
    ]),
    OutboundModule,
    TracingModule,
  ],
  controllers: [DestinationsController],
  providers: [
    BroadcastMetrics,
    DeliveryRepository,
    DeliveryService,
    DeliveryWriter,
    DestinationDirectory,
    DestinationRepository,
    DestinationsService,
    HeaderEncryption,
    LostTraces,
    RenderedBatches,
    TraceBuffer,
  ],
})
export class BroadcastModule {}
