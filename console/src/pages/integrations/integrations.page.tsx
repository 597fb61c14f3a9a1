import type { ReactNode } from 'react';
import { PageTabs } from '../../shell/page-tabs';
import { Page } from '../../ui';
import { Accounts } from './accounts';
import { TenantAlerts } from './tenant-alerts';
import { Destinations } from './destinations';
import { Webhooks } from './webhooks';

const TABS = [
  { id: 'accounts', label: 'Vendor accounts', content: () => <Accounts /> },
  { id: 'traces', label: 'Traces', content: () => <Destinations /> },
  { id: 'webhooks', label: 'Webhooks', content: () => <Webhooks /> },
  { id: 'alerts', label: 'Alerts', content: () => <TenantAlerts /> },
];

/** What the tenant has connected with the gateway. */
export function IntegrationsPage(): ReactNode {
  return (
    <Page
      title="Integrations"
      description="Your own vendor accounts, and who is told of what happens."
    >
      <PageTabs label="Integrations" tabs={TABS} />
    </Page>
  );
}
