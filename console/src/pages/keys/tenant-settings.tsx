import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../../api/client';
import { errorAt, useChange } from '../../api/changes';
import { useSession } from '../../session/session';
import { Card, Notice, QueryState, SelectField, toast } from '../../ui';

const RECOVERY_OPTIONS = [
  ['off', 'Off: the caller receives an error'],
  ['continue', 'Same model at another provider'],
  ['any', 'Another provider, or another model named in the request'],
] as const;
type Recovery = (typeof RECOVERY_OPTIONS)[number][0];

const CONTENT_LOGGING = { null: 'Operator default', true: 'Store', false: 'Do not store' } as const;
const OPERATOR_SETTING = {
  off: 'The operator has turned content logging off for all tenants.',
  allowed: 'The operator stores content only if the tenant turns it on.',
  on: 'The operator stores content unless the tenant turns it off.',
} as const;

/** Defaults for all requests of the tenant. */
export function TenantSettings(): ReactNode {
  const { can } = useSession();
  return (
    <div className="columns">
      <StreamRecovery />
      {can('content') && <ContentLogging />}
    </div>
  );
}

function StreamRecovery(): ReactNode {
  const { can } = useSession();
  const settings = useQuery({
    queryKey: ['settings'],
    queryFn: ({ signal }) => api.GET('/v1/customer/settings', { signal }),
  });
  const change = useChange(
    (recovery: Recovery) => api.PATCH('/v1/customer/settings', { body: { recovery } }),
    ['settings'],
    () => toast('Setting saved. It applies on every instance within a second.'),
  );
  return (
    <Card title="Stream recovery">
      <QueryState query={settings}>
        {({ recovery }) => (
          <SelectField
            label="Interrupted streams"
            hint="The caller sees one continuous answer at the price of one. Requests override this with recovery or X-Gateway-Recovery."
            error={errorAt(change.error, 'recovery') ?? change.error?.message}
            value={change.isPending ? change.variables : recovery}
            disabled={!can('develop') || change.isPending}
            options={RECOVERY_OPTIONS}
            onChange={(chosen) => change.mutate(chosen)}
          />
        )}
      </QueryState>
    </Card>
  );
}

function ContentLogging(): ReactNode {
  const contents = useQuery({
    queryKey: ['content-log'],
    queryFn: ({ signal }) => api.GET('/v1/customer/content-log', { signal }),
  });
  const change = useChange(
    (enabled: boolean | null) => api.PATCH('/v1/customer/content-log', { body: { enabled } }),
    ['content-log'],
    () => toast('Setting saved. It applies on every instance within a second.'),
  );
  return (
    <Card title="Content logging">
      <QueryState query={contents}>
        {({ enabled, setting, is_on, retention_days }) => (
          <>
            <SelectField
              label="Prompts and answers"
              hint={`${OPERATOR_SETTING[setting]} Keys can override this.`}
              error={errorAt(change.error, 'enabled') ?? change.error?.message}
              value={String(change.isPending ? change.variables : enabled)}
              disabled={change.isPending}
              options={Object.entries(CONTENT_LOGGING)}
              onChange={(chosen) => change.mutate(chosen === 'null' ? null : chosen === 'true')}
            />
            {is_on && (
              <Notice tone="warn">
                Prompts and answers are stored encrypted,{' '}
                {retention_days === 0 ? 'without a time limit' : `for ${retention_days} days`}.
              </Notice>
            )}
          </>
        )}
      </QueryState>
    </Card>
  );
}
