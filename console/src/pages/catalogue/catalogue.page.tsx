import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formatCount } from '../../format/credits';
import { useSession } from '../../session/session';
import { PageTabs } from '../../shell/page-tabs';
import { Button, Notice, Page, QueryState, Stat, Stats } from '../../ui';
import { ApplyDialog } from './apply-dialog';
import type { Config } from './config';
import { ModelTable } from './model-table';
import { ProviderAccounts } from './provider-accounts';
import { SettingsTable } from './settings-table';
import { VersionList } from './version-list';

/** The versioned configuration of all instances: prices, provider accounts and settings. */
export function CataloguePage(): ReactNode {
  const { can } = useSession();
  const [isApplying, setIsApplying] = useState(false);
  const config = useQuery({
    queryKey: ['admin', 'config'],
    queryFn: ({ signal }) => api.GET('/v1/admin/config', { signal }),
  });
  return (
    <Page
      title="Catalogue"
      description="Prices, provider accounts and settings of all instances. Each change creates a version, which applies within a second."
      actions={
        can('operator:write') && <Button onClick={() => setIsApplying(true)}>Edit as JSON</Button>
      }
    >
      <QueryState query={config}>
        {(known) => (
          <>
            <Stats>
              <Stat id="version" label="Version" value={known.version ?? 'none'} />
              <Stat label="Models" value={formatCount(known.models_count)} />
              <Stat
                label="Catalogue fingerprint"
                value={<span className="mono">{known.catalogue_fingerprint}</span>}
                hint="on this instance"
              />
              <Stat
                label="Configuration fingerprint"
                value={<span className="mono">{known.fingerprint}</span>}
                hint="on this instance"
              />
            </Stats>
            <Overrides config={known} />
            {known.faults.map((fault) => (
              <Notice key={fault} tone="bad">
                {fault}
              </Notice>
            ))}
            <PageTabs
              label="Configuration"
              tabs={[
                {
                  id: 'models',
                  label: 'Models and prices',
                  content: () => <ModelTable config={known} />,
                },
                {
                  id: 'providers',
                  label: 'Provider accounts',
                  content: () => <ProviderAccounts config={known} />,
                },
                {
                  id: 'settings',
                  label: 'Settings',
                  content: () => <SettingsTable settings={known.settings} />,
                },
                {
                  id: 'versions',
                  label: 'Versions',
                  content: () => <VersionList latest={known.version} />,
                },
              ]}
            />
            {isApplying && (
              <ApplyDialog latest={known.version} onClose={() => setIsApplying(false)} />
            )}
          </>
        )}
      </QueryState>
    </Page>
  );
}

function Overrides({ config }: { config: Config }): ReactNode {
  const models = config.models.filter(
    ({ is_overridden, source }) => is_overridden || source === 'file',
  );
  const others = [...config.providers, ...config.settings].filter(
    ({ source }) => source === 'file',
  );
  const count = models.length + others.length;
  if (count === 0) return null;
  return (
    <Notice tone="warn">
      {count === 1 ? '1 value from a file overrides' : `${count} values from files override`} the
      configuration version on this instance. They are marked below. Remove them from the files to
      apply the version everywhere.
    </Notice>
  );
}
