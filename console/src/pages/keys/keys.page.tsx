import { useState, type ReactNode } from 'react';
import { useSession } from '../../session/session';
import { PageTabs } from '../../shell/page-tabs';
import { Button, Page, type Tab } from '../../ui';
import { CreateKey } from './create-key';
import { EndUsers } from './end-users';
import { KeyList } from './key-list';
import { TenantLimits } from './tenant-limits';
import { TenantSettings } from './tenant-settings';

/** The tenant's keys, limits, end users and settings. */
export function KeysPage(): ReactNode {
  const { can } = useSession();
  const [isCreating, setIsCreating] = useState(false);
  const tabs: Tab[] = [
    ...(can('read') ? [{ id: 'keys', label: 'Keys', content: () => <KeyList /> }] : []),
    { id: 'limits', label: 'Tenant limits', content: () => <TenantLimits /> },
    { id: 'end-users', label: 'End users', content: () => <EndUsers /> },
    ...(can('read')
      ? [{ id: 'settings', label: 'Settings', content: () => <TenantSettings /> }]
      : []),
  ];
  return (
    <Page
      title="API keys"
      description="Keys and limits for calls to the gateway."
      actions={
        can('develop') && (
          <Button variant="primary" onClick={() => setIsCreating(true)}>
            Create key
          </Button>
        )
      }
    >
      <PageTabs label="Keys and limits" tabs={tabs} />
      {isCreating && <CreateKey onClose={() => setIsCreating(false)} />}
    </Page>
  );
}
