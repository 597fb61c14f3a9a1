import { useState, type ReactNode } from 'react';
import { useSession } from '../../session/session';
import { PageTabs } from '../../shell/page-tabs';
import { Button, Page, type Tab } from '../../ui';
import { CreateKey } from './create-key';
import { EndUsers } from './end-users';
import { KeyList } from './key-list';
import { TenantLimits } from './tenant-limits';
import { TenantSettings } from './tenant-settings';

/** The tenant's keys, and what it, its keys and its end users may spend and use. */
export function KeysPage(): ReactNode {
  const { can } = useSession();
  const [isCreating, setIsCreating] = useState(false);
  const tabs: Tab[] = [
    ...(can('read') ? [{ id: 'keys', label: 'Keys', content: () => <KeyList /> }] : []),
    { id: 'limits', label: 'Limits of all', content: () => <TenantLimits /> },
    { id: 'end-users', label: 'End users', content: () => <EndUsers /> },
    ...(can('read')
      ? [{ id: 'settings', label: 'Settings', content: () => <TenantSettings /> }]
      : []),
  ];
  return (
    <Page
      title="Keys"
      description="Who may call models, and how much of what."
      actions={
        can('develop') && (
          <Button variant="primary" onClick={() => setIsCreating(true)}>
            New key
          </Button>
        )
      }
    >
      <PageTabs label="Keys and limits" tabs={tabs} />
      {isCreating && <CreateKey onClose={() => setIsCreating(false)} />}
    </Page>
  );
}
