import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { useCursorList } from '../../api/queries';
import type { components } from '../../api/schema';
import { Changes } from '../../parts/changes';
import { changesBetween } from '../../parts/changes-between';
import { useSession } from '../../session/session';
import { useFilters } from '../../shell/use-filters';
import {
  Badge,
  Button,
  Card,
  Code,
  Drawer,
  EmptyState,
  MoreButton,
  PagedTable,
  QueryState,
  Time,
  type Column,
} from '../../ui';
import { ConfigDialog } from './config-dialog';

type Version = components['schemas']['ConfigVersionSummary'];

/** The configuration versions with their changes and a rollback. */
export function VersionList({ latest }: { latest: number | null }): ReactNode {
  const [{ version: opened }, setFilters] = useFilters(['version']);
  const versions = useCursorList(['admin', 'config', 'versions'], (query, signal) =>
    api.GET('/v1/admin/config/versions', { params: { query }, signal }),
  );
  const columns: Column<Version>[] = [
    {
      header: 'Version',
      cell: ({ version }) => (
        <>
          {version} {version === latest && <Badge tone="good">in force</Badge>}
        </>
      ),
    },
    { header: 'Comment', cell: ({ comment }) => comment ?? '–' },
    { header: 'Changes', align: 'end', cell: ({ changes }) => changes },
    { header: 'Author', wide: true, cell: ({ author }) => author.name },
    { header: 'Time', cell: ({ created_at }) => <Time at={created_at} /> },
    {
      header: 'Fingerprint',
      wide: true,
      cell: ({ fingerprint }) => <span className="mono">{fingerprint}</span>,
    },
  ];
  return (
    <>
      <Card>
        <PagedTable
          query={versions}
          caption="Versions"
          columns={columns}
          rowKey={({ version }) => String(version)}
          onOpen={({ version }) => setFilters({ version: String(version) })}
          empty={
            <EmptyState title="No versions yet">
              <span>Each configuration change creates a version, which you can roll back to.</span>
            </EmptyState>
          }
        />
      </Card>
      <MoreButton query={versions} />
      {opened !== undefined && (
        <VersionDrawer
          number={Number(opened)}
          latest={latest}
          onClose={() => setFilters({ version: '' })}
        />
      )}
    </>
  );
}

function VersionDrawer({
  number,
  latest,
  onClose,
}: {
  number: number;
  latest: number | null;
  onClose: () => void;
}): ReactNode {
  const { can } = useSession();
  const [isRollingBack, setIsRollingBack] = useState(false);
  const version = useQuery({
    queryKey: ['admin', 'config', 'versions', number],
    queryFn: ({ signal }) =>
      api.GET('/v1/admin/config/versions/{number}', { params: { path: { number } }, signal }),
  });
  if (isRollingBack) {
    return (
      <ConfigDialog
        title={`Roll back to version ${number}`}
        action="Roll back"
        latest={latest}
        onClose={() => {
          setIsRollingBack(false);
          onClose();
        }}
        send={(options) =>
          api.POST('/v1/admin/config/rollback', { body: { version: number, ...options } })
        }
      >
        <p>This creates a new version with the contents of version {number}.</p>
      </ConfigDialog>
    );
  }
  return (
    <Drawer title={`Version ${number}`} onClose={onClose}>
      <QueryState query={version}>
        {({ comment, author, created_at, diff, document }) => (
          <>
            <p>
              <Time at={created_at} /> by {author.name}
              {comment !== null && `: ${comment}`}
            </p>
            {can('operator:write') && number !== latest && (
              <div className="row">
                <Button onClick={() => setIsRollingBack(true)}>Roll back to this version</Button>
              </div>
            )}
            <Changes
              caption="Changes from the previous version"
              changes={diff.flatMap(({ path, before, after }) =>
                changesBetween(before, after, path),
              )}
              empty="No changes from the previous version."
            />
            <details>
              <summary>Full document</summary>
              <Code label="Document" text={JSON.stringify(document, null, 2)} />
            </details>
          </>
        )}
      </QueryState>
    </Drawer>
  );
}
