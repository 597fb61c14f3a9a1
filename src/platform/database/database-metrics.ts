import { Injectable } from '@nestjs/common';
import { GatewayMetrics } from '../metrics/gateway-metrics.js';
import type { LabelledValue } from '../metrics/tracked-metrics.js';
import { Database } from './database.js';

/** Registers the metrics of the connection pools. */
@Injectable()
export class DatabaseMetrics {
  constructor(metrics: GatewayMetrics, database: Database) {
    const pools = () => [
      { pool: 'requests', connections: database.pool },
      { pool: 'ledger', connections: database.ledgerPool },
    ];
    metrics.trackEach(
      'gateway_database_connections',
      'Connections to the database, by pool and state.',
      ['pool', 'state'],
      () =>
        pools().flatMap(({ pool, connections: { totalCount, idleCount } }): LabelledValue[] => [
          { labels: { pool, state: 'busy' }, value: totalCount - idleCount },
          { labels: { pool, state: 'idle' }, value: idleCount },
        ]),
    );
    metrics.trackEach(
      'gateway_database_connections_max',
      'Maximum number of connections to the database.',
      ['pool'],
      () => pools().map(({ pool, connections }) => labelled(pool, connections.options.max)),
    );
    metrics.trackEach(
      'gateway_database_waiting',
      'Statements waiting for a connection to the database.',
      ['pool'],
      () => pools().map(({ pool, connections }) => labelled(pool, connections.waitingCount)),
    );
  }
}

function labelled(pool: string, value: number): LabelledValue {
  return { labels: { pool }, value };
}
