/** What a rule looks for; docs/alerts.md says what each means. */
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

/** `webhook`: JSON, signed. `slack`: `{text, blocks}`, which Slack, Mattermost and others take. */
export const ALERT_FORMATS = ['webhook', 'slack'] as const;
export type AlertFormat = (typeof ALERT_FORMATS)[number];

export const ALERT_STATUSES = ['firing', 'resolved'] as const;
export type AlertStatus = (typeof ALERT_STATUSES)[number];

/** Figures of a rule by the names that the interface has for them; `readAlertCondition` says which. */
export type AlertCondition = Readonly<Record<string, string | number | readonly number[] | null>>;

/** Figures of an event, by name. */
export type AlertDetail = Readonly<Record<string, unknown>>;

/** Whose rules are meant: a tenant's by its id, or the operator's. */
export type AlertOwner = string | null;

/** Something that a rule's receiver is told. */
export interface AlertMessage {
  readonly id: string;
  readonly ruleId: string;
  readonly ruleName: string;
  readonly kind: AlertKind;
  /** `test`: nothing happened; somebody tries the receiver. */
  readonly status: AlertStatus | 'test';
  /** A tenant's, a key's or a provider's id, or empty. */
  readonly subject: string;
  readonly threshold: string;
  readonly period: string;
  readonly detail: AlertDetail;
  /** The name of the tenant that it is about, for the operator. */
  readonly tenantName: string | null;
  readonly createdAt: Date;
}

/** An event, and what became of its delivery. */
export interface AlertEvent extends AlertMessage {
  readonly status: AlertStatus;
  readonly state: 'pending' | 'delivered' | 'dropped';
  readonly attempts: number;
  readonly lastError: string | null;
  readonly finishedAt: Date | null;
}

/** What is shown of a URL, whose path and query are often a secret: its origin and the last characters. */
export function previewUrl(url: string): string {
  const { origin } = new URL(url);
  const rest = url.slice(url.indexOf(new URL(url).host) + new URL(url).host.length);
  return rest.length < MIN_PREVIEWED ? `${origin}/…` : `${origin}/…${rest.slice(-SHOWN_AT_END)}`;
}

const SHOWN_AT_END = 4;
/** Of a shorter path the last characters would be too much. */
const MIN_PREVIEWED = 24;
