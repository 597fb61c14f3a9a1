import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { messageOf } from '../../platform/errors/thrown.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { SweepTimer } from '../../platform/time/sweep-timer.js';
import type { ServedModel } from '../../vendors/upstream.js';
import { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import { CatalogueService } from '../catalogue/catalogue.service.js';
import { ConfigurationService } from './configuration.service.js';

const EVERY_MS = 60_000;
const LIMIT_MS = 10_000;
/** Models of an unavailable server stay listed for this long; its routes cool down meanwhile. */
const FORGET_AFTER_MS = 3_600_000;
/** Default version of a model name. */
const LATEST = ':latest';

/**
 * Reads the models of the operator's own servers every minute and adds them to the catalogue, free unless a row
 * sets a price. Does nothing without such servers.
 */
@Injectable()
export class ServedModelsService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(ServedModelsService.name);
  private readonly stopping = new AbortController();
  private readonly servers = new Map<string, { seenMs: number; text: string; isUp: boolean }>();
  private timer: SweepTimer | undefined;

  constructor(
    private readonly upstreams: UpstreamRegistry,
    private readonly catalogue: CatalogueService,
    private readonly configuration: ConfigurationService,
  ) {}

  onApplicationBootstrap(): void {
    this.look();
    this.configuration.onChange(() => this.look());
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.timer?.stop();
  }

  /** Starts polling when servers are configured, and forgets removed ones. */
  private look(): void {
    const providers = this.providers();
    for (const id of this.servers.keys()) if (!providers.includes(id)) this.forget(id);
    if (providers.length === 0 || this.stopping.signal.aborted) {
      void this.timer?.stop();
      this.timer = undefined;
      return;
    }
    if (this.timer) return this.timer.tick();
    this.timer = new SweepTimer(
      () => this.readAll(),
      (error) => this.logger.error('model listing of custom servers failed', error),
    );
    this.timer.start(EVERY_MS);
  }

  /** Returns the ids of providers that list their models. */
  private providers(): string[] {
    return this.upstreams.providers
      .map(({ id }) => id)
      .filter((id) => this.upstreams.get(id).servedModels !== undefined);
  }

  /** Polls each server once, independently of the others. */
  async readAll(): Promise<void> {
    await Promise.all(this.providers().map((id) => this.read(id)));
  }

  private async read(id: string): Promise<void> {
    const limits = { firstByteMs: LIMIT_MS, idleMs: LIMIT_MS, requestMs: LIMIT_MS };
    const known = this.servers.get(id);
    try {
      const { signal } = this.stopping;
      const models = await this.upstreams.get(id).servedModels!({ limits, signal });
      const rows = models.map((model) => rowOf(id, model));
      const text = JSON.stringify(rows);
      this.servers.set(id, { seenMs: Date.now(), text, isUp: true });
      if (known?.text === text) return;
      this.catalogue.serve(id, rows);
      this.logger.log(`${id} serves ${rows.length} models`);
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      if (known?.isUp !== false) {
        this.logger.warn(`${id} failed to list its models: ${messageOf(error)}`);
      }
      this.servers.set(id, { seenMs: 0, text: '', ...known, isUp: false });
      if (known && known.text !== '' && Date.now() - known.seenMs > FORGET_AFTER_MS)
        this.forget(id);
    }
  }

  private forget(id: string): void {
    this.servers.delete(id);
    this.catalogue.serve(id, []);
  }
}

function rowOf(provider: string, { id, kind, contextLength }: ServedModel): JsonObject {
  const name = id.endsWith(LATEST) ? id.slice(0, -LATEST.length) : id;
  return {
    id: `${provider}/${name}`,
    kind,
    ...(contextLength !== undefined && { context_length: contextLength }),
    pricing: { prompt: '0', completion: '0' },
    routes: [{ provider, model: id, priority: 0 }],
  };
}
