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

/** Number of affected rows and the ids of the first ones. */
interface Found {
  readonly rows: number;
  readonly models: readonly string[];
}

interface Findings {
  /** Rows whose prices have not been confirmed for long. */
  readonly stale?: Found;
  /** Rows that differ from the configured list; null without a list. */
  readonly differ?: Found | null;
}

/** If the process dies meanwhile, another one takes over after ten minutes. */
const CLAIM_CHECK = `
  UPDATE price_checks SET begun_at = now()
  WHERE (checked_at < now() - interval '7 days' OR subject <> $1)
    AND begun_at < now() - interval '10 minutes'`;

/**
 * Checks weekly, and within an hour of a catalogue change, which prices have not been confirmed for
 * long and which differ from the configured price list. One process checks for all and stores the
 * findings in a row, which alerts use. Nothing is fetched without a configured list.
 */
@Injectable()
export class PriceWatch implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(PriceWatch.name);
  private readonly timer = new SweepTimer(
    () => this.run(),
    ({ message }) => this.logger.warn(`price check failed: ${message}`),
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
      `Rows of the catalogue whose prices have not been confirmed for ${STALE_AFTER_DAYS} days.`,
      () => this.findings.stale?.rows ?? 0,
    );
    metrics.track(
      'gateway_prices_differ',
      'Rows of the catalogue whose prices differ from the list in GATEWAY_PRICE_LIST.',
      () => this.findings.differ?.rows ?? 0,
    );
  }

  onApplicationBootstrap(): void {
    if (this.config.queue.consume) this.timer.start(HOUR_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.timer.stop();
  }

  /** Checks prices if a check is due and no other process runs one, then loads the latest findings. */
  async run(): Promise<void> {
    const subject = `${this.catalogue.fingerprint} ${this.config.priceList ?? ''}`;
    const { rowCount } = await this.database.query(CLAIM_CHECK, [subject]);
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
      // The URL may contain a key, which must not be logged.
      const reason = messageOf(error).replace(`${this.config.priceList}: `, '');
      this.logger.warn(`The list in GATEWAY_PRICE_LIST cannot be read: ${reason}`);
    }
    // If the list was unreadable, earlier findings stay and the next hour retries.
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
        `Prices of ${differ.rows} models differ from ${list.name}; "catalogue update" with GATEWAY_PRICE_LIST shows them`,
      );
    }
    return differ;
  }
}

function foundIn(ids: readonly string[]): Found {
  return { rows: ids.length, models: ids.slice(0, MAX_NAMED) };
}
