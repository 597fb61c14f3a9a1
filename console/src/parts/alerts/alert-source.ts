import type { CursorPage } from '../../api/queries';
import type { components } from '../../api/schema';

export type Alert = components['schemas']['Alert'];
export type AlertEvent = components['schemas']['AlertEvent'];
export type CreateAlert = components['schemas']['CreateAlert'];
export type UpdateAlert = components['schemas']['UpdateAlert'];

/** The API of a tenant's or the operators' alerts. */
export interface AlertSource {
  owner: 'tenant' | 'operator';
  /** True when the viewer may change them. */
  mayChange: boolean;
  list(signal: AbortSignal): Promise<components['schemas']['AlertList']>;
  events(
    query: { limit: number; cursor?: string },
    signal: AbortSignal,
  ): Promise<CursorPage<AlertEvent>>;
  create(body: CreateAlert): Promise<Alert>;
  update(id: string, body: UpdateAlert): Promise<Alert>;
  remove(id: string): Promise<unknown>;
  test(id: string): Promise<components['schemas']['AlertTest']>;
}

/** Returns the first elements of the query keys, for invalidation. */
export function queryKeysOf({ owner }: AlertSource): { alerts: string; events: string } {
  return owner === 'tenant'
    ? { alerts: 'alerts', events: 'alert-events' }
    : { alerts: 'operator-alerts', events: 'operator-alert-events' };
}
