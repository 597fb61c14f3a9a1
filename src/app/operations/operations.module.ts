import { Module } from '@nestjs/common';
import { ClusterMetrics } from './cluster-metrics.js';
import { HealthController } from './health.controller.js';
import { MetricsController } from './metrics.controller.js';

@Module({ controllers: [HealthController, MetricsController], providers: [ClusterMetrics] })
export class OperationsModule {}
