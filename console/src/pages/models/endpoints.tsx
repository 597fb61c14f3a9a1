import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../../api/client';
import type { components } from '../../api/schema';
import { formatShare } from '../../format/credits';
import { formatDuration, formatRate } from '../../format/times';
import { Badge, DataTable, QueryState, Spread, type Column } from '../../ui';
import { perMillion, pricesOf } from './prices';
import { STATE } from './model-health';

type Endpoint = components['schemas']['Endpoint'];

const COLUMNS: readonly Column<Endpoint>[] = [
  {
    header: 'Provider',
    cell: ({ provider_name, is_own_account }) => (
      <>
        {provider_name}
        {is_own_account && (
          <>
            <br />
            <small className="muted">BYOK account</small>
          </>
        )}
      </>
    ),
  },
  { header: 'State', cell: ({ state }) => <Badge tone={STATE[state][0]}>{STATE[state][1]}</Badge> },
  { header: 'Price', cell: ({ pricing }) => priceOf(pricing) },
  {
    header: 'First token',
    align: 'end',
    cell: ({ latency_last_30m: latency }) => <Spread of={latency} format={formatDuration} />,
  },
  {
    header: 'Tokens/s',
    align: 'end',
    cell: ({ throughput_last_30m: throughput }) => <Spread of={throughput} format={formatRate} />,
  },
  {
    header: 'Success rate',
    align: 'end',
    cell: ({ uptime_last_30m: percent }) => (percent === null ? '–' : formatShare(percent / 100)),
  },
  {
    header: 'Cache hits',
    align: 'end',
    cell: ({ cache_hit_rate: share }) => (share === null ? '–' : formatShare(share)),
  },
];

/** The providers of a model with price, health and speed. */
export function Endpoints({ modelId }: { modelId: string }): ReactNode {
  const endpoints = useQuery({
    queryKey: ['models', modelId, 'endpoints'],
    queryFn: ({ signal }) =>
      api.GET('/v1/models/{id}/endpoints', { params: { path: { id: modelId } }, signal }),
    refetchInterval: 30_000,
  });
  return (
    <QueryState query={endpoints}>
      {({ data }) => (
        <>
          <DataTable
            caption="Providers, in routing order"
            columns={COLUMNS}
            rows={data.endpoints}
            rowKey={({ tag }) => tag}
          />
          <p className="muted">
            Prices are per 1M tokens, input / output. First token and tokens per second are medians
            and 90th percentiles. All measurements cover the last 30 minutes. Shared capacity is
            measured across all tenants, BYOK accounts with your requests only. A BYOK account is
            charged a fee, which is a share of the price.
          </p>
        </>
      )}
    </QueryState>
  );
}

/** Formats input and output prices, or the first other price. */
function priceOf(pricing: Endpoint['pricing']): string {
  const [input, output] = [perMillion(pricing.prompt), perMillion(pricing.completion)];
  if (input && output) return `${input.usd} / ${output.usd}`;
  const [first] = pricesOf(pricing);
  return first ? `${first.usd} a ${first.unit}` : 'free';
}
