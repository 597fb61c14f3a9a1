import type { ReactNode } from 'react';
import { Card, DataTable, EmptyState, type Column } from '../../ui';
import type { Config } from './config';
import { SourceBadge } from './source-badge';

type Setting = Config['settings'][number];

const COLUMNS: readonly Column<Setting>[] = [
  {
    header: 'Setting',
    cell: ({ name, meaning }) => (
      <>
        {plain(meaning)}
        <br />
        <span className="mono muted">{name}</span>
      </>
    ),
  },
  { header: 'Effective value', cell: (setting) => setting.value ?? plain(setting.default ?? '–') },
  { header: 'Default', wide: true, cell: (setting) => plain(setting.default ?? '–') },
  { header: 'Source', cell: ({ source }) => <SourceBadge source={source} /> },
];

/** Removes Markdown markup. */
function plain(markdown: string): string {
  return markdown.replace(/`|\*\*/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
}

/** The settings that can change at run time. */
export function SettingsTable({ settings }: { settings: readonly Setting[] }): ReactNode {
  return (
    <Card title="Run-time settings">
      <p className="muted">
        Configuration versions set these for all instances; use “Edit as JSON”. Environment
        variables override them on their instance.
      </p>
      <DataTable
        caption="Settings"
        columns={COLUMNS}
        rows={settings}
        rowKey={({ name }) => name}
        empty={<EmptyState title="No run-time settings" />}
      />
    </Card>
  );
}
