import type { ReactNode } from 'react';
import type { components } from '../../api/schema';
import { formatDuration } from '../../format/times';
import { Notice } from '../../ui';

export type Account = components['schemas']['ProviderCredential'];
type Check = components['schemas']['AccountCheck'];

/** Returns the account's name, or its provider. */
export function nameOf({ name, provider }: Account): string {
  return name ?? provider;
}

/** Shows the result of a test call. */
export function TestResult(check: Check): ReactNode {
  return <Notice tone={check.ok ? 'good' : 'bad'}>{resultOf(check)}</Notice>;
}

/** Formats the result in one line. */
export function resultOf({ message, latency_ms }: Check): string {
  return `${message} (${formatDuration(latency_ms)})`;
}
