import type { ReactNode } from 'react';
import { PageTabs } from '../../shell/page-tabs';
import { Page } from '../../ui';
import { HeatMap } from './heat-map-card';
import { ProviderTable } from './provider-table';
import { RouteTable } from './route-table';
import './routes.css';

/** How models do at their providers, and what is paused. */
export function RoutesPage(): ReactNode {
  return (
    <Page
      title="Routes"
      description="How models do at their providers, over all instances, and what is paused."
    >
      <PageTabs
        label="Views"
        tabs={[
          { id: 'health', label: 'Health over time', content: () => <HeatMap /> },
          { id: 'routes', label: 'Routes and pauses', content: () => <RouteTable /> },
          { id: 'providers', label: 'Providers', content: () => <ProviderTable /> },
        ]}
      />
    </Page>
  );
}
