import { Tabs as RadixTabs } from 'radix-ui';
import type { ReactNode } from 'react';

export interface Tab {
  id: string;
  label: string;
  content: () => ReactNode;
}

/** Tabs. The page owns the selection, which belongs in the URL. */
export function Tabs({
  label,
  tabs,
  selected: wanted,
  onSelect,
}: {
  label: string;
  tabs: readonly Tab[];
  selected: string;
  onSelect: (id: string) => void;
}): ReactNode {
  // The URL may name a tab that does not exist or that the role cannot see.
  const selected = tabs.some(({ id }) => id === wanted) ? wanted : (tabs[0]?.id ?? '');
  return (
    <RadixTabs.Root value={selected} onValueChange={onSelect}>
      <RadixTabs.List className="tabs-list" aria-label={label}>
        {tabs.map(({ id, label: text }) => (
          <RadixTabs.Trigger key={id} value={id} className="tab">
            {text}
          </RadixTabs.Trigger>
        ))}
      </RadixTabs.List>
      {tabs.map(({ id, content }) => (
        <RadixTabs.Content key={id} value={id} className="tab-panel stack">
          {id === selected && content()}
        </RadixTabs.Content>
      ))}
    </RadixTabs.Root>
  );
}
