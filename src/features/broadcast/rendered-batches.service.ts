import { Injectable } from '@nestjs/common';
import { DeliveryRepository } from './delivery.repository.js';
import type { RenderOptions } from './render-batch.js';
import { fromStored } from './trace-batch.js';

/** A tenant's destinations get the same batch within moments of each other. */
const MAX_KEPT = 8;
const KEPT_FOR_MS = 5_000;

/** Renders batches when they are sent, once for all destinations that get them at about that time. */
@Injectable()
export class RenderedBatches {
  private readonly kept = new Map<string, Promise<Buffer>>();
  private forgetting: NodeJS.Timeout | undefined;

  constructor(private readonly deliveries: DeliveryRepository) {}

  /**
   * @param options.includesContent whether the receiver is to see prompts and answers, as far as
   *   they are in it
   * @throws Error when the batch cannot be read
   */
  of(batchId: string, options: RenderOptions): Promise<Buffer> {
    const key = `${batchId}/${options.includesContent}`;
    const known = this.kept.get(key);
    if (known) return known;
    const rendered = this.render(batchId, options);
    this.kept.set(key, rendered);
    rendered.catch(() => this.kept.delete(key));
    if (this.kept.size > MAX_KEPT) {
      const [oldest] = this.kept.keys();
      if (oldest !== undefined) this.kept.delete(oldest);
    }
    this.forgetting ??= setTimeout(() => {
      this.forgetting = undefined;
      this.kept.clear();
    }, KEPT_FOR_MS).unref();
    return rendered;
  }

  private async render(batchId: string, options: RenderOptions): Promise<Buffer> {
    // What it needs of OpenTelemetry is loaded by the first trace that is sent.
    const { renderBatch } = await import('./render-batch.js');
    const body = await this.deliveries.readBody(batchId);
    return renderBatch(await fromStored(body), options);
  }
}
