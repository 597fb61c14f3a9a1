import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formatCount } from '../../format/credits';
import { useSession } from '../../session/session';
import { PageTabs } from '../../shell/page-tabs';
import { useFilters } from '../../shell/use-filters';
import {
  Button,
  Card,
  DataTable,
  EmptyState,
  Page,
  QueryState,
  Time,
  type Column,
  type Tab,
} from '../../ui';
import { GuardrailDrawer, OnBadge, textsOf } from './guardrail-drawer';
import { GuardrailForm, type Guardrail } from './guardrail-form';
import { describeRule } from './rule-draft';
import { TrialForm } from './trial';
import { ActionBadge, Triggers } from './triggers';
import './guardrails.css';

const COLUMNS: readonly Column<Guardrail>[] = [
  { header: 'Name', cell: ({ name }) => name },
  { header: 'State', cell: (guardrail) => <OnBadge guardrail={guardrail} /> },
  { header: 'Action', cell: ({ action }) => <ActionBadge action={action} /> },
  {
    header: 'Rules',
    wide: true,
    cell: ({ rules }) => (
      <span className="rule-summary">{rules.map(describeRule).join(' · ')}</span>
    ),
  },
  { header: 'Applies to', wide: true, cell: textsOf },
  { header: 'Matches', align: 'end', cell: ({ trigger_count }) => formatCount(trigger_count) },
  {
    header: 'Last match',
    wide: true,
    cell: ({ last_triggered_at }) => <Time at={last_triggered_at} none="never" />,
  },
];

const NONE: readonly Guardrail[] = [];

/** The tenant's guardrails, a test form and past matches. */
export function GuardrailsPage(): ReactNode {
  const { can } = useSession();
  const [{ open }, setFilters] = useFilters(['open']);
  const [edited, setEdited] = useState<Guardrail | 'new'>();
  const guardrails = useQuery({
    queryKey: ['guardrails'],
    queryFn: ({ signal }) => api.GET('/v1/customer/guardrails', { signal }),
    refetchInterval: 30_000,
  });
  const opened = guardrails.data?.data.find(({ id }) => id === open);
  const tabs: Tab[] = [
    {
      id: 'rules',
      label: 'Guardrails',
      content: () => (
        <>
          <Card>
            <QueryState query={guardrails}>
              {({ data }) => (
                <DataTable
                  caption="Guardrails, newest first"
                  columns={COLUMNS}
                  rows={data}
                  rowKey={({ id }) => id}
                  onOpen={({ id }) => setFilters({ open: id })}
                  empty={
                    <EmptyState title="No guardrails yet">
                      <span>
                        Guardrails check prompts and answers for words, patterns, personal data and
                        secrets, and block, flag or log what matches.
                      </span>
                      {can('develop') && (
                        <Button variant="primary" onClick={() => setEdited('new')}>
                          Create guardrail
                        </Button>
                      )}
                    </EmptyState>
                  }
                />
              )}
            </QueryState>
          </Card>
          {opened && (
            <GuardrailDrawer
              guardrail={opened}
              onEdit={() => setEdited(opened)}
              onClose={() => setFilters({ open: '' })}
            />
          )}
        </>
      ),
    },
    ...(can('develop')
      ? [
          {
            id: 'try',
            label: 'Test',
            content: () => (
              <Card title="Test the enabled guardrails">
                <TrialForm />
              </Card>
            ),
          },
        ]
      : []),
    {
      id: 'found',
      label: 'Matches',
      content: () => <Triggers guardrails={guardrails.data?.data ?? NONE} />,
    },
  ];
  return (
    <Page
      title="Guardrails"
      description="Checks on prompts and answers."
      actions={
        can('develop') && (
          <Button variant="primary" onClick={() => setEdited('new')}>
            Create guardrail
          </Button>
        )
      }
    >
      <PageTabs label="Guardrails" tabs={tabs} />
      {edited && (
        <GuardrailForm
          known={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
    </Page>
  );
}
