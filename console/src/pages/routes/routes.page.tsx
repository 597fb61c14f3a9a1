import type { ReactNode } from 'react';
import { useFilters } from '../../shell/use-filters';
import { Page, Tabs } from '../../ui';
import { HeatMap } from './heat-map-card';
import { ProviderTable } from './provider-table';
import { RouteTable } from './route-table';
import './routes.css';

/** How models do at their providers, and what is paused. */
export function RoutesPage(): ReactNode {
  const [{ tab = 'health' }, setFilters] = useFilters(['tab']);
  return (
    <Page
      title="Routes"
      description="How models do at their providers, over all instances, and what is paused."
    >
      <Tabs
        label="Views"
        selected={tab}
        onSelect={(next) => setFilters({ tab: next })}
        tabs={[
          { id: 'health', label: 'Health over time', content: () => <HeatMap /> },
          { id: 'routes', label: 'Routes and pauses', content: () => <RouteTable /> },
          { id: 'providers', label: 'Providers', content: () => <ProviderTable /> },
        ]}
      />
    </Page>
  );
}
