import { Injectable } from '@nestjs/common';
import { boundedCache } from '../../platform/memory/bounded-cache.js';
import { DeliveryRepository } from './delivery.repository.js';
import type { RenderOptions } from './render-batch.js';
import { fromStored } from './trace-batch.js';

/** A tenant's destinations get the same batch at almost the same time. */
const MAX_KEPT = 8;
const KEPT_FOR_MS = 5_000;

/**
 * Renders batches when they are sent, once for all destinations that need them at the same time.
 */
@Injectable()
export class RenderedBatches {
  private readonly kept = boundedCache<string, Promise<Buffer>>(MAX_KEPT);
  private forgetting: NodeJS.Timeout | undefined;

  constructor(private readonly deliveries: DeliveryRepository) {}

  /**
   * @param options.includesContent whether to include prompts and answers, if present
   * @throws Error when the batch cannot be read
   */
  of(batchId: string, options: RenderOptions): Promise<Buffer> {
    const key = `${batchId}/${options.includesContent}`;
    const known = this.kept.get(key);
    if (known) return known;
    const rendered = this.render(batchId, options);
    this.kept.set(key, rendered);
    rendered.catch(() => this.kept.delete(key));
    this.forgetting ??= setTimeout(() => {
      this.forgetting = undefined;
      this.kept.clear();
    }, KEPT_FOR_MS).unref();
    return rendered;
  }

  private async render(batchId: string, options: RenderOptions): Promise<Buffer> {
    // Loads OpenTelemetry on first use.
    const { renderBatch } = await import('./render-batch.js');
    const body = await this.deliveries.readBody(batchId);
    return renderBatch(await fromStored(body), options);
  }
}
