import { Global, Module } from '@nestjs/common';
import { GatewayMetrics } from './gateway-metrics.js';

@Global()
@Module({ providers: [GatewayMetrics], exports: [GatewayMetrics] })
export class MetricsModule {}
