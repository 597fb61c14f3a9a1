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
/** For so long the models of a server that does not answer stay listed; its routes cool meanwhile. */
const FORGET_AFTER_MS = 3_600_000;
/** Which of a model's versions is meant where its name says none. */
const LATEST = ':latest';

/**
 * Reads every minute which models the operator's own servers have, and puts them into the catalogue,
 * for nothing unless a row says what they cost. Where there is no such server, nothing is done.
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

  /** Begins to ask the servers where there are some now, and forgets those that are configured no more. */
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
      (error) => this.logger.error('the models of own servers were not read', error),
    );
    this.timer.start(EVERY_MS);
  }

  /** Ids of the providers that tell which models they have. */
  private providers(): string[] {
    return this.upstreams.providers
      .map(({ id }) => id)
      .filter((id) => this.upstreams.get(id).servedModels !== undefined);
  }

  /** One round; each server is asked once, whatever becomes of the others. */
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
        this.logger.warn(`${id} does not say which models it has: ${messageOf(error)}`);
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
