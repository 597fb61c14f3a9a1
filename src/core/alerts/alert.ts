/** Conditions that rules detect; docs/alerts.md describes them. */
export const ALERT_KINDS = [
  'balance_below',
  'budget',
  'vendor_unhealthy',
  'route_paused',
  'error_rate',
  'spend_unusual',
  'prices_stale',
  'prices_differ',
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** `webhook`: signed JSON. `slack`: `{text, blocks}`, as accepted by Slack, Mattermost and others. */
export const ALERT_FORMATS = ['webhook', 'slack'] as const;
export type AlertFormat = (typeof ALERT_FORMATS)[number];

export const ALERT_STATUSES = ['firing', 'resolved'] as const;
export type AlertStatus = (typeof ALERT_STATUSES)[number];

/** A rule's parameters by their API names; see `readAlertCondition`. */
export type AlertCondition = Readonly<Record<string, string | number | readonly number[] | null>>;

/** An event's figures by name. */
export type AlertDetail = Readonly<Record<string, unknown>>;

/** The owner of rules: a tenant's id, or null for the operator. */
export type AlertOwner = string | null;

/** A notification for a rule's receiver. */
export interface AlertMessage {
  readonly id: string;
  readonly ruleId: string;
  readonly ruleName: string;
  readonly kind: AlertKind;
  /** `test`: nothing happened; the receiver is being tested. */
  readonly status: AlertStatus | 'test';
  /** Id of a tenant, key or provider, or empty. */
  readonly subject: string;
  readonly threshold: string;
  readonly period: string;
  readonly detail: AlertDetail;
  /** Name of the tenant concerned, for the operator. */
  readonly tenantName: string | null;
  readonly createdAt: Date;
}

/** An event with the state of its delivery. */
export interface AlertEvent extends AlertMessage {
  readonly status: AlertStatus;
  readonly state: 'pending' | 'delivered' | 'dropped';
  readonly attempts: number;
  readonly lastError: string | null;
  readonly finishedAt: Date | null;
}

/** Shortens a URL, whose path and query are often secret, to its origin and last characters. */
export function previewUrl(url: string): string {
  const { origin } = new URL(url);
  const rest = url.slice(url.indexOf(new URL(url).host) + new URL(url).host.length);
  return rest.length < MIN_PREVIEWED ? `${origin}/…` : `${origin}/…${rest.slice(-SHOWN_AT_END)}`;
}

const SHOWN_AT_END = 4;
/** In a shorter path, the last characters would reveal too much. */
const MIN_PREVIEWED = 24;
