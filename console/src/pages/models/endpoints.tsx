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
            <small className="muted">your own account</small>
          </>
        )}
      </>
    ),
  },
  { header: 'State', cell: ({ state }) => <Badge tone={STATE[state][0]}>{STATE[state][1]}</Badge> },
  { header: 'Price', cell: ({ pricing }) => priceOf(pricing) },
  {
    header: 'First content',
    align: 'end',
    cell: ({ latency_last_30m: latency }) => <Spread of={latency} format={formatDuration} />,
  },
  {
    header: 'Tokens / s',
    align: 'end',
    cell: ({ throughput_last_30m: throughput }) => <Spread of={throughput} format={formatRate} />,
  },
  {
    header: 'Answered',
    align: 'end',
    cell: ({ uptime_last_30m: percent }) => (percent === null ? '–' : formatShare(percent / 100)),
  },
  {
    header: 'From cache',
    align: 'end',
    cell: ({ cache_hit_rate: share }) => (share === null ? '–' : formatShare(share)),
  },
];

/** Who serves a model, at which price, how well and how fast. */
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
            caption="Who serves it, in the order in which they are tried"
            columns={COLUMNS}
            rows={data.endpoints}
            rowKey={({ tag }) => tag}
          />
          <p className="muted">
            Prices are for 1M tokens, input / output. First content and tokens a second are the
            median and the 90th percentile of the last minutes; calls that were answered, and prompt
            tokens from the vendor’s cache, are of the last half-hour. Shared capacity is measured
            with all callers together, an account of your own with your calls alone; over that you
            pay a share of the price, the fee.
          </p>
        </>
      )}
    </QueryState>
  );
}

/** Input and output; else the first of its prices. */
function priceOf(pricing: Endpoint['pricing']): string {
  const [input, output] = [perMillion(pricing.prompt), perMillion(pricing.completion)];
  if (input && output) return `${input.usd} / ${output.usd}`;
  const [first] = pricesOf(pricing);
  return first ? `${first.usd} a ${first.unit}` : 'free';
}
