import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../../api/client';
import { formatCount } from '../../format/credits';
import { PageTabs } from '../../shell/page-tabs';
import { useFilters } from '../../shell/use-filters';
import { Credits, Page, QueryState, Stat, Stats } from '../../ui';
import { Ledger } from './ledger';
import { ReceiptDrawer, Receipts } from './receipts';
import { Statements } from './statements';

const TABS = [
  { id: 'ledger', label: 'Ledger', content: () => <Ledger /> },
  { id: 'statements', label: 'Statements', content: () => <Statements /> },
  { id: 'receipts', label: 'Receipts', content: () => <Receipts /> },
];

/** The tenant's balance, ledger, statements and receipts. */
export function BillingPage(): ReactNode {
  const [{ receipt }, setFilters] = useFilters(['receipt']);
  const credits = useQuery({
    queryKey: ['credits'],
    queryFn: ({ signal }) => api.GET('/v1/customer/credits', { signal }),
    refetchInterval: 15_000,
  });
  return (
    <Page title="Billing" description="1,000,000 credits are $1.00. Months are in UTC.">
      <QueryState query={credits}>
        {({ balance, current_period: period, lifetime }) => (
          <Stats>
            <Stat id="balance" label="Balance" value={<Credits value={balance.total} />} />
            <Stat
              id="held"
              label="Reserved"
              value={<Credits value={balance.held} />}
              hint="by running requests"
            />
            <Stat id="available" label="Available" value={<Credits value={balance.available} />} />
            <Stat
              id="month"
              label="Spent this month"
              value={<Credits value={period.spent} />}
              hint={`${formatCount(period.requests)} requests`}
            />
            <Stat
              id="lifetime"
              label="Spent in total"
              value={<Credits value={lifetime.spent} />}
              hint={
                <>
                  of <Credits value={lifetime.granted} /> granted
                </>
              }
            />
          </Stats>
        )}
      </QueryState>
      <PageTabs label="Billing" tabs={TABS} />
      {receipt && (
        <ReceiptDrawer requestId={receipt} onClose={() => setFilters({ receipt: undefined })} />
      )}
    </Page>
  );
}
