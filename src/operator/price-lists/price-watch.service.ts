import { Inject, Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { CatalogueService } from '../../core/catalogue/catalogue.service.js';
import { comparePrices } from './compare-prices.js';
import { loadPriceList } from './load-price-list.js';
import { STALE_AFTER_DAYS, staleRowsOf } from './stale-prices.js';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { Database } from '../../platform/database/database.js';
import { messageOf } from '../../platform/errors/thrown.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { HOUR_MS } from '../../platform/time/dates.js';
import { SweepTimer } from '../../platform/time/sweep-timer.js';

const MAX_NAMED = 20;

/** Prices of so many rows, the first of which are named. */
interface Found {
  readonly rows: number;
  readonly models: readonly string[];
}

interface Findings {
  /** Nobody has confirmed them for long. */
  readonly stale?: Found;
  /** The list of the settings has others; null: there is none. */
  readonly differ?: Found | null;
}

/** A process that dies at it leaves the rest to the next one. */
const TAKE_TURN = `
  UPDATE price_checks SET begun_at = now()
  WHERE (checked_at < now() - interval '7 days' OR subject <> $1)
    AND begun_at < now() - interval '10 minutes'`;

/**
 * Looks every week, and within the hour after the catalogue has changed, which prices nobody has confirmed for long
 * and, where the settings name a list, which it has otherwise. One process does it for all; what it finds is a row that
 * alerts go by. Nothing is fetched where no list is named.
 */
@Injectable()
export class PriceWatch implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(PriceWatch.name);
  private readonly timer = new SweepTimer(
    () => this.look(),
    ({ message }) => this.logger.warn(`Prices could not be looked at: ${message}`),
  );
  private findings: Findings = {};

  constructor(
    private readonly database: Database,
    private readonly catalogue: CatalogueService,
    @Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 'queue' | 'priceList'>,
    metrics: GatewayMetrics,
  ) {
    metrics.track(
      'gateway_prices_stale',
      `Rows of the catalogue whose prices nobody has confirmed for ${STALE_AFTER_DAYS} days.`,
      () => this.findings.stale?.rows ?? 0,
    );
    metrics.track(
      'gateway_prices_differ',
      'Rows of the catalogue whose prices the list of GATEWAY_PRICE_LIST has otherwise.',
      () => this.findings.differ?.rows ?? 0,
    );
  }

  onApplicationBootstrap(): void {
    if (this.config.queue.consume) this.timer.start(HOUR_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /** Looks at prices if it is time and nobody else does; learns what was found in any case. */
  async look(): Promise<void> {
    const subject = `${this.catalogue.fingerprint} ${this.config.priceList ?? ''}`;
    const { rowCount } = await this.database.query(TAKE_TURN, [subject]);
    if (rowCount === 1) await this.check(subject);
    const { rows } = await this.database.lookUps.query<{ findings: Findings }>(
      'SELECT findings FROM price_checks',
    );
    this.findings = rows[0]?.findings ?? {};
  }

  private async check(subject: string): Promise<void> {
    const rows = this.catalogue.rowsInForce;
    const stale = foundIn(staleRowsOf(rows, Date.now()).map(({ id }) => id));
    if (stale.rows > 0) {
      this.logger.warn(
        `The prices of ${stale.rows} models have not been confirmed for ${STALE_AFTER_DAYS} days; "catalogue stale" lists them`,
      );
    }
    let differ: Found | null | undefined;
    try {
      differ = await this.compare();
    } catch (error) {
      // The address may have a key in it, which stays out of the log.
      const reason = messageOf(error).replace(`${this.config.priceList}: `, '');
      this.logger.warn(`The list of GATEWAY_PRICE_LIST cannot be read: ${reason}`);
    }
    // What was found before stays until the list can be read again, which is tried with the next hour.
    await this.database.query(
      `UPDATE price_checks SET findings = findings || $2::jsonb,
         checked_at = CASE WHEN $3 THEN now() ELSE checked_at END,
         subject = CASE WHEN $3 THEN $1 ELSE subject END`,
      [subject, JSON.stringify({ stale, differ }), differ !== undefined],
    );
  }

  private async compare(): Promise<Found | null> {
    const { priceList } = this.config;
    if (priceList === undefined) return null;
    const today = new Date().toISOString().slice(0, 10);
    const list = await loadPriceList(priceList, { today });
    const { moves } = comparePrices(this.catalogue.rowsInForce, list, { source: list.name, today });
    const differ = foundIn([...new Set(moves.map(({ id }) => id))]);
    if (differ.rows > 0) {
      this.logger.warn(
        `${list.name} has other prices of ${differ.rows} models; "catalogue update" with GATEWAY_PRICE_LIST shows them`,
      );
    }
    return differ;
  }
}

function foundIn(ids: readonly string[]): Found {
  return { rows: ids.length, models: ids.slice(0, MAX_NAMED) };
}
