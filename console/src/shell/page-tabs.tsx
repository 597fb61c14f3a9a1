import type { ReactNode } from 'react';
import { Tabs, type Tab } from '../ui';
import { useFilters } from './use-filters';

/** The tabs of a page; the URL stores the selected one unless it is the first. */
export function PageTabs({ label, tabs }: { label: string; tabs: readonly Tab[] }): ReactNode {
  const [{ tab = '' }, setFilters] = useFilters(['tab']);
  return (
    <Tabs
      label={label}
      tabs={tabs}
      selected={tab}
      onSelect={(id) => setFilters({ tab: id === tabs[0]?.id ? undefined : id })}
    />
  );
}
