import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../../api/client';
import { errorAt, useChange } from '../../api/changes';
import { useSession } from '../../session/session';
import { Card, Notice, QueryState, SelectField, toast } from '../../ui';

const RECOVERIES = [
  ['off', 'nobody: the caller is told that it broke off'],
  ['continue', 'another provider of the same model'],
  ['any', 'another provider, or another model that the request names'],
] as const;
type Recovery = (typeof RECOVERIES)[number][0];

const KEPT = { null: 'as the operator has it', true: 'kept', false: 'not kept' } as const;
const SETTINGS_OF = {
  off: 'The operator keeps none, whatever is said here.',
  allowed: 'The operator keeps those of tenants that ask for it.',
  on: 'The operator keeps those of all tenants that do not refuse.',
} as const;

/** What holds for all of the tenant's requests that do not say otherwise. */
export function TenantSettings(): ReactNode {
  const { can } = useSession();
  return (
    <div className="columns">
      <Streams />
      {can('content') && <Contents />}
    </div>
  );
}

function Streams(): ReactNode {
  const { can } = useSession();
  const settings = useQuery({
    queryKey: ['settings'],
    queryFn: ({ signal }) => api.GET('/v1/customer/settings', { signal }),
  });
  const change = useChange(
    (recovery: Recovery) => api.PATCH('/v1/customer/settings', { body: { recovery } }),
    ['settings'],
    () => toast('It holds on every instance within a second.'),
  );
  return (
    <Card title="Streams that break off">
      <QueryState query={settings}>
        {({ recovery }) => (
          <SelectField
            label="Who goes on with them"
            hint="One text, at the price of one answer. A request says otherwise by recovery, or X-Gateway-Recovery."
            error={errorAt(change.error, 'recovery') ?? change.error?.message}
            value={change.isPending ? change.variables : recovery}
            disabled={!can('develop') || change.isPending}
            options={RECOVERIES}
            onChange={(chosen) => change.mutate(chosen)}
          />
        )}
      </QueryState>
    </Card>
  );
}

function Contents(): ReactNode {
  const contents = useQuery({
    queryKey: ['content-log'],
    queryFn: ({ signal }) => api.GET('/v1/customer/content-log', { signal }),
  });
  const change = useChange(
    (enabled: boolean | null) => api.PATCH('/v1/customer/content-log', { body: { enabled } }),
    ['content-log'],
    () => toast('It holds on every instance within a second.'),
  );
  return (
    <Card title="Prompts and answers">
      <QueryState query={contents}>
        {({ enabled, setting, is_on, retention_days }) => (
          <>
            <SelectField
              label="Those of all keys are"
              hint={`${SETTINGS_OF[setting]} A key may have a choice of its own.`}
              error={errorAt(change.error, 'enabled') ?? change.error?.message}
              value={String(change.isPending ? change.variables : enabled)}
              disabled={change.isPending}
              options={Object.entries(KEPT)}
              onChange={(chosen) => change.mutate(chosen === 'null' ? null : chosen === 'true')}
            />
            {is_on && (
              <Notice tone="warn">
                What is said is kept, encrypted,{' '}
                {retention_days === 0 ? 'for ever' : `for ${retention_days} days`}.
              </Notice>
            )}
          </>
        )}
      </QueryState>
    </Card>
  );
}
