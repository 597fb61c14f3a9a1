import {
  MAX_BUFFERED_BYTES,
  MAX_BUFFERED_BYTES_PER_TENANT,
  MAX_BUFFERED_TRACES,
  MAX_BUFFERED_TRACES_PER_TENANT,
} from './broadcast-limits.js';

interface Held {
  traces: number;
  bytes: number;
}

/** How much this process holds that is not written down, and whether a tenant may add to it. */
export class BufferRoom {
  readonly total: Held = { traces: 0, bytes: 0 };
  private readonly tenants = new Map<string, Held>();

  hasRoom(tenantId: string): boolean {
    const own = this.tenants.get(tenantId);
    return (
      this.total.traces < MAX_BUFFERED_TRACES &&
      this.total.bytes < MAX_BUFFERED_BYTES &&
      (!own ||
        (own.traces < MAX_BUFFERED_TRACES_PER_TENANT && own.bytes < MAX_BUFFERED_BYTES_PER_TENANT))
    );
  }

  take(tenantId: string, bytes: number): void {
    const own = this.tenants.get(tenantId) ?? { traces: 0, bytes: 0 };
    this.tenants.set(tenantId, own);
    for (const held of [this.total, own]) {
      held.traces++;
      held.bytes += bytes;
    }
  }

  giveBack(tenantId: string, { traces, bytes }: Held): void {
    const own = this.tenants.get(tenantId);
    if (!own) return;
    for (const held of [this.total, own]) {
      held.traces -= traces;
      held.bytes -= bytes;
    }
    if (own.traces === 0) this.tenants.delete(tenantId);
  }
}
