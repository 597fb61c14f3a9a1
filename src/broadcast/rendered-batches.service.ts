import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Injectable } from '@nestjs/common';
import { DeliveryRepository } from './delivery.repository.js';

const decompress = promisify(gunzip);

/** A tenant's destinations get the same batch within moments of each other. */
const MAX_KEPT = 8;
const KEPT_FOR_MS = 5_000;

/** Renders batches when they are sent, once for all destinations that get them at about that time. */
@Injectable()
export class RenderedBatches {
  private readonly kept = new Map<string, Promise<Buffer>>();
  private forgetting: NodeJS.Timeout | undefined;

  constructor(private readonly deliveries: DeliveryRepository) {}

  /** @throws Error when the batch cannot be read */
  of(batchId: string): Promise<Buffer> {
    const known = this.kept.get(batchId);
    if (known) return known;
    const rendered = this.render(batchId);
    this.kept.set(batchId, rendered);
    rendered.catch(() => this.kept.delete(batchId));
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

  private async render(batchId: string): Promise<Buffer> {
    // What it needs of OpenTelemetry is loaded by the first trace that is sent.
    const { renderBatch } = await import('./render-batch.js');
    const body = await this.deliveries.readBody(batchId);
    return renderBatch(await decompress(body));
  }
}
