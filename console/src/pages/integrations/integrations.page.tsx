import type { ReactNode } from 'react';
import { PageTabs } from '../../shell/page-tabs';
import { Page } from '../../ui';
import { Accounts } from './accounts';
import { TenantAlerts } from './tenant-alerts';
import { Destinations } from './destinations';
import { Webhooks } from './webhooks';

const TABS = [
  { id: 'accounts', label: 'BYOK accounts', content: () => <Accounts /> },
  { id: 'traces', label: 'Traces', content: () => <Destinations /> },
  { id: 'webhooks', label: 'Webhooks', content: () => <Webhooks /> },
  { id: 'alerts', label: 'Alerts', content: () => <TenantAlerts /> },
];

/** BYOK accounts, trace destinations, webhooks and alerts of the tenant. */
export function IntegrationsPage(): ReactNode {
  return (
    <Page
      title="Integrations"
      description="BYOK accounts with vendors, and where traces, webhooks and alerts are sent."
    >
      <PageTabs label="Integrations" tabs={TABS} />
    </Page>
  );
}
