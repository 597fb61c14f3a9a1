import type { ReactNode } from 'react';
import { Badge } from '../ui';

const TONE_OF = { active: 'good', suspended: 'warn', deleted: 'neutral' } as const;

/** The status of a tenant. */
export function TenantStatusBadge({ status }: { status: keyof typeof TONE_OF }): ReactNode {
  return <Badge tone={TONE_OF[status]}>{status}</Badge>;
}
