import type { ReactNode } from 'react';
import type { components } from '../api/schema';

/** The keys whose requests use an account, a destination or a webhook. */
export function ScopeLabel({ scope }: { scope: components['schemas']['Scope'] }): ReactNode {
  if (scope.type === 'tenant') return 'All keys';
  return (
    <span title={scope.api_key_id ?? undefined}>
      Key <code>{scope.api_key_id?.slice(0, 8)}</code> and its children
    </span>
  );
}
