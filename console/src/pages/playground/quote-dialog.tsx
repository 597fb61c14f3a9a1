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

const REASONS: Record<LeftOut['reason'], string> = {
  not_configured: 'No account with this provider',
  own_account: 'The BYOK account does not allow shared capacity',
  denied: 'Denied by a provider list',
  preferences: 'Excluded by the request’s provider preferences',
  paused: 'Paused by the operator',
  unpriced: 'No price for a requested feature',
  max_price: 'Above the request’s maximum price',
  max_cost: 'Could exceed the request’s maximum cost',
  cooling: 'Cooling down after failures',
  resting: 'Vendor rate limit reached',
  no_fallbacks: 'The request disables fallbacks',
};
const ESTIMATE_BASIS: Record<string, string> = {
  log: 'your answers from this model in the last 7 days',
  rule: 'a default, since you have too few answers from this model: 500 tokens or the limit',
  request: 'the request',
};

/**
 * Estimates the cost of requests without sending them.
 *
 * @param requestedAt distinguishes repeated estimates
 * @param requests one per model
 */
export function QuoteDialog({
  requestedAt,
  requests,
  onClose,
}: {
  requestedAt: number;
  requests: readonly ModelRequest[];
  onClose: () => void;
}): ReactNode {
  return (
    <Dialog title="Cost estimate" wide onClose={onClose}>
      {requests.map((request, index) => (
        <QuoteOf
          key={index}
          id={`${requestedAt} ${index}`}
          title={requests.length > 1 ? `${index + 1}. ${modelOf(request)}` : modelOf(request)}
          request={request}
        />
      ))}
      <p className="muted">
        No vendor is called and nothing is charged. “Worst” is the amount that the gateway would
        reserve. Guardrails, budgets and rate limits are not checked.
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
      const { quote: result, error } = await withConsoleKey(tenant?.id ?? '', session.name, (key) =>
        quoteCall(request, key, signal),
      );
      if (!result) throw error ?? new Error('The gateway returned no estimate.');
      return result;
    },
    staleTime: Infinity,
    gcTime: 0,
  });
  return (
    <>
      <h3>{title}</h3>
      <QueryState query={quote}>
        {(data) => <QuoteView quote={data} title={title} model={modelOf(request)} />}
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
  /** The requested model, omitted from the route names. */
  model: string;
}): ReactNode {
  const [first] = routes;
  return (
    <>
      {refusal && <Notice tone="bad">The request would be rejected: {refusal.message}</Notice>}
      <DataTable
        caption={`Routes of ${title} in routing order`}
        columns={[
          {
            header: 'Route',
            cell: (route: QuotedRoute) => <Route of={route} requestedModel={model} />,
          },
          ...(['least', 'likely', 'worst'] as const).map((name) => ({
            header: name[0]?.toUpperCase() + name.slice(1),
            align: 'end' as const,
            wide: name === 'least',
            cell: ({ cost }: QuotedRoute) => <Credits value={cost[name]} />,
          })),
        ]}
        rows={routes}
        rowKey={nameOf}
        empty={<EmptyState title="No route is available" />}
      />
      {first && (
        <p className="muted">
          Likely cost: {formatCount(first.tokens.prompt)} tokens in,{' '}
          {formatCount(first.tokens.completion)} out, based on{' '}
          {ESTIMATE_BASIS[first.likely_by] ?? first.likely_by}.
        </p>
      )}
      {leftOut.length > 0 && (
        <DataTable
          caption={`Excluded routes of ${title}`}
          columns={[
            {
              header: 'Excluded route',
              cell: (route: LeftOut) => <Names of={route} requestedModel={model} />,
            },
            { header: 'Reason', cell: ({ reason }: LeftOut) => REASONS[reason] },
          ]}
          rows={leftOut}
          rowKey={nameOf}
        />
      )}
    </>
  );
}

function Route({
  of: route,
  requestedModel,
}: {
  of: QuotedRoute;
  requestedModel: string;
}): ReactNode {
  return (
    <>
      <Names of={route} requestedModel={requestedModel} />
      {route.traffic_mode === 'byok' && <Badge tone="info">BYOK</Badge>}{' '}
      {route.condition === 'cooling' && <Badge tone="warn">cooling down</Badge>}{' '}
      {route.prompt_cache === 'warm' && <Badge tone="good">prompt cached</Badge>}
    </>
  );
}

type Named = Pick<LeftOut, 'model' | 'provider' | 'account'>;

function Names({
  of: { model, provider, account },
  requestedModel,
}: {
  of: Named;
  requestedModel: string;
}): ReactNode {
  return (
    <>
      {provider}
      {account !== null && ` (${account})`}{' '}
      {model !== requestedModel && <small className="muted">{model} </small>}
    </>
  );
}

function modelOf({ body }: ModelRequest): string {
  return String(body['model']);
}

function nameOf({ model, provider, account }: Named): string {
  return `${model} ${provider} ${account ?? ''}`;
}
