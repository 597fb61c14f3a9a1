import type { ReactNode } from 'react';
import { PageTabs } from '../../shell/page-tabs';
import { Page } from '../../ui';
import { HeatMap } from './heat-map-card';
import { ProviderTable } from './provider-table';
import { RouteTable } from './route-table';
import './routes.css';

/** Health, speed and pauses of routes. */
export function RoutesPage(): ReactNode {
  return (
    <Page
      title="Routes"
      description="Health and speed of models at their providers, over all instances, and active pauses."
    >
      <PageTabs
        label="Views"
        tabs={[
          { id: 'health', label: 'Health', content: () => <HeatMap /> },
          { id: 'routes', label: 'Routes', content: () => <RouteTable /> },
          { id: 'providers', label: 'Providers', content: () => <ProviderTable /> },
        ]}
      />
    </Page>
  );
}
