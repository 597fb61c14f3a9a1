import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { RoutingService } from '../routing/routing.service.js';
import { Database } from '../../platform/database/database.js';
import { SweepTimer } from '../../platform/time/sweep-timer.js';
import { REPORT_VENDORS, RETRACT_VENDORS } from './alert-statements.js';

/** Well below the minute for which a report counts. */
const REPORT_EVERY_MS = 10_000;

/** Callers make up the names in families of models. */
const MAX_ROUTES = 50;
const MAX_NAME_LENGTH = 200;

/** Says in the database which vendors fail here, so that whoever looks for alerts knows it of all processes. */
@Injectable()
export class VendorReports implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(VendorReports.name);
  private readonly processId = randomUUID();
  private readonly timer = new SweepTimer(
    () => this.report(),
    ({ message }) => this.logger.warn(`Vendors that fail could not be reported: ${message}`),
  );
  private hasReported = false;

  constructor(
    private readonly database: Database,
    private readonly routing: RoutingService,
  ) {}

  onApplicationBootstrap(): void {
    this.timer.startLater(REPORT_EVERY_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /** Writes nothing while all is well. @param at when it is so; undefined: now, by the database's clock */
  async report(at?: Date): Promise<void> {
    const failing = this.routing
      .failingRoutes()
      .slice(0, MAX_ROUTES)
      .map(({ provider, upstreamModel }) => ({ provider, model: toName(upstreamModel) }));
    if (failing.length > 0) {
      this.hasReported = true;
      await this.database.query(REPORT_VENDORS, [
        this.processId,
        JSON.stringify(failing),
        at ?? null,
      ]);
    } else if (this.hasReported) {
      await this.database.query(RETRACT_VENDORS, [this.processId]);
      this.hasReported = false;
    }
  }
}

/** As `jsonb` takes it. */
function toName(model: string | undefined): string | null {
  return model?.slice(0, MAX_NAME_LENGTH).toWellFormed().replaceAll('\0', '') ?? null;
}
