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
  { header: 'In force here', cell: (setting) => setting.value ?? plain(setting.default ?? '–') },
  { header: 'Default', wide: true, cell: (setting) => plain(setting.default ?? '–') },
  { header: 'From', cell: ({ source }) => <SourceBadge source={source} /> },
];

/** Without the marks of Markdown. */
function plain(markdown: string): string {
  return markdown.replace(/`|\*\*/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
}

/** The settings that may change while the service runs. */
export function SettingsTable({ settings }: { settings: readonly Setting[] }): ReactNode {
  return (
    <Card title="Settings that may change while the service runs">
      <p className="muted">
        A version of the configuration sets them for all instances, by “Edit as a document”; a
        variable of an instance comes before it there.
      </p>
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
