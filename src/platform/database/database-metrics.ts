import { Injectable } from '@nestjs/common';
import { GatewayMetrics } from '../metrics/gateway-metrics.js';
import type { LabelledValue } from '../metrics/tracked-metrics.js';
import { Database } from './database.js';

/** Shows how far the connections to the database are used. */
@Injectable()
export class DatabaseMetrics {
  constructor(metrics: GatewayMetrics, database: Database) {
    const pools = () => [
      { pool: 'requests', connections: database.pool },
      { pool: 'ledger', connections: database.ledgerPool },
    ];
    metrics.trackEach(
      'gateway_database_connections',
      'Connections to the database, by what they do.',
      ['pool', 'state'],
      () =>
        pools().flatMap(({ pool, connections: { totalCount, idleCount } }): LabelledValue[] => [
          { labels: { pool, state: 'busy' }, value: totalCount - idleCount },
          { labels: { pool, state: 'idle' }, value: idleCount },
        ]),
    );
    metrics.trackEach(
      'gateway_database_connections_max',
      'Connections to the database that there may be at most.',
      ['pool'],
      () => pools().map(({ pool, connections }) => labelled(pool, connections.options.max)),
    );
    metrics.trackEach(
      'gateway_database_waiting',
      'Statements that wait for a connection to the database.',
      ['pool'],
      () => pools().map(({ pool, connections }) => labelled(pool, connections.waitingCount)),
    );
  }
}

function labelled(pool: string, value: number): LabelledValue {
  return { labels: { pool }, value };
}
