import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formatCount } from '../../format/credits';
import { TenantStatusBadge } from '../../parts/tenant-status';
import { useSession } from '../../session/session';
import { PageTabs } from '../../shell/page-tabs';
import { Button, ButtonLink, Credits, Notice, Page, QueryState, Stat, Stats, Time } from '../../ui';
import { EntryDialog } from './entry-dialog';
import { TenantEntries } from './tenant-entries';
import type { Tenant } from './tenant';
import { TenantKeys } from './tenant-keys';
import { TenantLimits } from './tenant-limits';
import { TenantMembers } from './tenant-members';
import { TenantState } from './tenant-state';

/** A tenant with the operator's actions. */
export function TenantPage(): ReactNode {
  const { tenantId = '' }: { tenantId?: string } = useParams({ strict: false });
  const tenant = useQuery({
    queryKey: ['admin', 'tenants', tenantId],
    queryFn: ({ signal }) =>
      api.GET('/v1/admin/tenants/{tenant_id}', {
        params: { path: { tenant_id: tenantId } },
        signal,
      }),
  });
  if (!tenant.data) {
    return (
      <Page title="Tenant">
        <QueryState query={tenant}>{() => null}</QueryState>
      </Page>
    );
  }
  return <TenantView tenant={tenant.data} />;
}

function TenantView({ tenant }: { tenant: Tenant }): ReactNode {
  const { can, chooseTenant } = useSession();
  const navigate = useNavigate();
  const [opened, setOpened] = useState<'grant' | 'correction'>();
  const exists = tenant.status !== 'deleted';
  const open = () => {
    chooseTenant({ id: tenant.id, name: tenant.name });
    void navigate({ to: '/' });
  };
  return (
    <Page
      title={tenant.name}
      description={
        <>
          <TenantStatusBadge status={tenant.status} /> <span className="mono">{tenant.id}</span> ·
          created <Time at={tenant.created_at} />
        </>
      }
      actions={
        <>
          <ButtonLink to="/operator-audit" search={{ tenant_id: tenant.id }}>
            Show audit log
          </ButtonLink>
          {exists && <Button onClick={open}>View as tenant</Button>}
          {exists && can('operator:write') && (
            <>
              <Button onClick={() => setOpened('correction')}>Correct balance</Button>
              <Button variant="primary" onClick={() => setOpened('grant')}>
                Grant credits
              </Button>
            </>
          )}
        </>
      }
    >
      {tenant.status === 'suspended' && (
        <Notice tone="warn">
          <span>
            Suspended since <Time at={tenant.suspended_at} />: its keys can read data but not call
            models.
          </span>
        </Notice>
      )}
      {tenant.status === 'deleted' && (
        <Notice tone="info">
          <span>
            Deleted <Time at={tenant.deleted_at} />. Its ledger entries and request logs are kept
            without names
            {tenant.erased_at === null ? '; end users and tags are being erased.' : '.'}
          </span>
        </Notice>
      )}
      <Stats>
        <Stat id="balance" label="Balance" value={<Credits value={tenant.balance} />} />
        <Stat
          id="available"
          label="Available"
          value={<Credits value={tenant.available} />}
          hint={
            <>
              <Credits value={tenant.held} /> reserved by running requests
            </>
          }
        />
        <Stat
          id="spent_this_month"
          label="Spent this month"
          value={<Credits value={tenant.spent_this_month} />}
          hint={
            tenant.monthly_spend_limit === null ? (
              'no monthly limit'
            ) : (
              <>
                of <Credits value={tenant.monthly_spend_limit} />
              </>
            )
          }
        />
        <Stat id="spent" label="Spent in total" value={<Credits value={tenant.spent} />} />
        <Stat id="requests" label="Requests" value={formatCount(tenant.request_count)} />
      </Stats>
      <PageTabs
        label="Tenant"
        tabs={[
          {
            id: 'entries',
            label: 'Ledger',
            content: () => <TenantEntries tenantId={tenant.id} />,
          },
          { id: 'keys', label: 'API keys', content: () => <TenantKeys tenant={tenant} /> },
          { id: 'limits', label: 'Limits', content: () => <TenantLimits tenant={tenant} /> },
          { id: 'members', label: 'Members', content: () => <TenantMembers tenant={tenant} /> },
          ...(can('operator:write') && exists
            ? [
                {
                  id: 'state',
                  label: 'Settings',
                  content: () => <TenantState key={tenant.id} tenant={tenant} />,
                },
              ]
            : []),
        ]}
      />
      {opened && <EntryDialog kind={opened} tenant={tenant} onClose={() => setOpened(undefined)} />}
    </Page>
  );
}
