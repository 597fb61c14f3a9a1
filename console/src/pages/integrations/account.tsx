import type { ReactNode } from 'react';
import type { components } from '../../api/schema';
import { formatDuration } from '../../format/times';
import { Notice } from '../../ui';

export type Account = components['schemas']['ProviderCredential'];
type Check = components['schemas']['AccountCheck'];

/** What the tenant calls it, else with whom it is. */
export function nameOf({ name, provider }: Account): string {
  return name ?? provider;
}

/** What a real call said of a key. */
export function TestResult(check: Check): ReactNode {
  return <Notice tone={check.ok ? 'good' : 'bad'}>{resultOf(check)}</Notice>;
}

/** The same, in one line. */
export function resultOf({ message, latency_ms }: Check): string {
  return `${message} (${formatDuration(latency_ms)})`;
}
