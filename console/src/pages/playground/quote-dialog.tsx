import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ModelRequest } from '../../calls/build-request';
import { quoteCall, type Quote } from '../../calls/quote-call';
import { formatCount } from '../../format/credits';
import { withConsoleKey } from '../../session/console-key';
import { useSession } from '../../session/session';
import { Badge, Credits, DataTable, Dialog, EmptyState, Notice, QueryState } from '../../ui';

type QuotedRoute = Quote['routes'][number];
type LeftOut = Quote['left_out'][number];

const WHY: Record<LeftOut['reason'], string> = {
  not_configured: 'there is no account with this provider',
  own_account: 'your own account lets no shared capacity stand in',
  denied: 'a list of providers does not leave it',
  preferences: 'the request names other providers',
  paused: 'paused by the operator',
  unpriced: 'something that is asked for has no price there',
  max_price: 'it is dearer than the request allows',
  max_cost: 'it could cost more than the request allows',
  cooling: 'it has failed of late',
  resting: 'its vendor’s limit is reached',
  no_fallbacks: 'the request wants no fallbacks',
};
const LENGTH_BY: Record<string, string> = {
  log: 'your answers of this model in the last seven days',
  rule: 'a rule, as there are too few answers of yours to go by: 500 tokens, or its limit',
  request: 'the request itself',
};

/**
 * What calls would cost that are not made.
 *
 * @param askedAt tells one asking from the next
 * @param requests one for each model
 */
export function QuoteDialog({
  askedAt,
  requests,
  onClose,
}: {
  askedAt: number;
  requests: readonly ModelRequest[];
  onClose: () => void;
}): ReactNode {
  return (
    <Dialog title="What it would cost" wide onClose={onClose}>
      {requests.map((request, index) => (
        <QuoteOf
          key={index}
          id={`${askedAt} ${index}`}
          title={requests.length > 1 ? `${index + 1}. ${modelOf(request)}` : modelOf(request)}
          request={request}
        />
      ))}
      <p className="muted">
        Nobody is called and nothing is charged. “Worst” is what would be set aside; guardrails,
        budgets and rate limits are not asked.
      </p>
    </Dialog>
  );
}

function QuoteOf({
  id,
  title,
  request,
}: {
  id: string;
  title: string;
  request: ModelRequest;
}): ReactNode {
  const { tenant, session } = useSession();
  const quote = useQuery({
    queryKey: ['quote', tenant?.id, id],
    queryFn: async ({ signal }) => {
      const { quote: told, error } = await withConsoleKey(tenant?.id ?? '', session.name, (key) =>
        quoteCall(request, key, signal),
      );
      if (!told) throw error ?? new Error('The gateway gave no quote.');
      return told;
    },
    staleTime: Infinity,
    gcTime: 0,
  });
  return (
    <>
      <h3>{title}</h3>
      <QueryState query={quote}>
        {(told) => <QuoteView quote={told} title={title} model={modelOf(request)} />}
      </QueryState>
    </>
  );
}

function QuoteView({
  quote: { routes, left_out: leftOut, refusal },
  title,
  model,
}: {
  quote: Quote;
  title: string;
  /** Asked for, so not said with each route. */
  model: string;
}): ReactNode {
  const [first] = routes;
  return (
    <>
      {refusal && <Notice tone="bad">It would be refused: {refusal.message}</Notice>}
      <DataTable
        caption={`Routes of ${title} in the order in which they would be tried`}
        columns={[
          { header: 'Route', cell: (route: QuotedRoute) => <Route of={route} asked={model} /> },
          ...(['least', 'likely', 'worst'] as const).map((name) => ({
            header: name[0]?.toUpperCase() + name.slice(1),
            align: 'end' as const,
            wide: name === 'least',
            cell: ({ cost }: QuotedRoute) => <Credits value={cost[name]} />,
          })),
        ]}
        rows={routes}
        rowKey={nameOf}
        empty={<EmptyState title="No route could be tried" />}
      />
      {first && (
        <p className="muted">
          Likely: {formatCount(first.tokens.prompt)} tokens in,{' '}
          {formatCount(first.tokens.completion)} out, by{' '}
          {LENGTH_BY[first.likely_by] ?? first.likely_by}.
        </p>
      )}
      {leftOut.length > 0 && (
        <DataTable
          caption={`Routes of ${title} that would be left out`}
          columns={[
            { header: 'Left out', cell: (route: LeftOut) => <Names of={route} asked={model} /> },
            { header: 'Why', cell: ({ reason }: LeftOut) => WHY[reason] },
          ]}
          rows={leftOut}
          rowKey={nameOf}
        />
      )}
    </>
  );
}

function Route({ of: route, asked }: { of: QuotedRoute; asked: string }): ReactNode {
  return (
    <>
      <Names of={route} asked={asked} />
      {route.traffic_mode === 'byok' && <Badge tone="info">your own account</Badge>}{' '}
      {route.condition === 'cooling' && <Badge tone="warn">has failed of late</Badge>}{' '}
      {route.prompt_cache === 'warm' && <Badge tone="good">prompt in its cache</Badge>}
    </>
  );
}

type Named = Pick<LeftOut, 'model' | 'provider' | 'account'>;

function Names({
  of: { model, provider, account },
  asked,
}: {
  of: Named;
  asked: string;
}): ReactNode {
  return (
    <>
      {provider}
      {account !== null && ` (${account})`}{' '}
      {model !== asked && <small className="muted">{model} </small>}
    </>
  );
}

function modelOf({ body }: ModelRequest): string {
  return String(body['model']);
}

function nameOf({ model, provider, account }: Named): string {
  return `${model} ${provider} ${account ?? ''}`;
}
