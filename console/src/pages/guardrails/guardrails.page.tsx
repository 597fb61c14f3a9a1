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
  { header: 'Does', cell: ({ action }) => <ActionBadge action={action} /> },
  {
    header: 'Looks for',
    wide: true,
    cell: ({ rules }) => (
      <span className="rule-summary">{rules.map(describeRule).join(' · ')}</span>
    ),
  },
  { header: 'In', wide: true, cell: textsOf },
  { header: 'Found', align: 'end', cell: ({ trigger_count }) => formatCount(trigger_count) },
  {
    header: 'Last time',
    wide: true,
    cell: ({ last_triggered_at }) => <Time at={last_triggered_at} none="never" />,
  },
];

const NONE: readonly Guardrail[] = [];

/** The tenant's rules about texts, a way to try them, and what they have found. */
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
                        One looks at what is sent to models, or at what they answer, and blocks,
                        marks or notes what it finds.
                      </span>
                      {can('develop') && (
                        <Button variant="primary" onClick={() => setEdited('new')}>
                          New guardrail
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
            label: 'Try a text',
            content: () => (
              <Card title="What the guardrails that are on do with a text">
                <TrialForm />
              </Card>
            ),
          },
        ]
      : []),
    {
      id: 'found',
      label: 'What they found',
      content: () => <Triggers guardrails={guardrails.data?.data ?? NONE} />,
    },
  ];
  return (
    <Page
      title="Guardrails"
      description="What may not reach a model, and what may not come back from one."
      actions={
        can('develop') && (
          <Button variant="primary" onClick={() => setEdited('new')}>
            New guardrail
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
