import type { ReactNode } from 'react';
import { Card, DataTable, EmptyState, type Column } from '../../ui';
import type { Config } from './catalogue.page';
import { SourceBadge } from './source-badge';

type Setting = Config['settings'][number];

const COLUMNS: readonly Column<Setting>[] = [
  { id: 'name', header: 'Setting', cell: ({ name }) => <span className="mono">{name}</span> },
  { id: 'value', header: 'Value', cell: ({ value }) => value ?? 'the default' },
  { id: 'source', header: 'From', cell: ({ source }) => <SourceBadge source={source} /> },
];

/** The settings that may change while the service runs. */
export function SettingsTable({ settings }: { settings: readonly Setting[] }): ReactNode {
  return (
    <Card>
      <DataTable
        caption="Settings"
        columns={COLUMNS}
        rows={settings}
        rowKey={({ name }) => name}
        empty={<EmptyState title="There is no such setting" />}
      />
    </Card>
  );
}
