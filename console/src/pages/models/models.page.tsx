import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo, type ReactNode } from 'react';
import { api } from '../../api/client';
import { formatCompact } from '../../format/credits';
import { useFilters } from '../../shell/use-filters';
import {
  Card,
  Checkbox,
  FilterSelect,
  CopyButton,
  EmptyState,
  Page,
  QueryState,
  SteppedTable,
  TextField,
  type Column,
} from '../../ui';
import { ModelDrawer, type Model } from './model-drawer';
import { ModelHealth } from './model-health';
import { perMillion, pricesOf } from './prices';

const KINDS = ['chat', 'embedding', 'image', 'video', 'speech', 'transcription'] as const;
const INPUTS = ['text', 'image', 'audio', 'file', 'video'] as const;
/** Rows rendered at once; the list itself is complete. */
const STEP = 60;

const COLUMNS: readonly Column<Model>[] = [
  {
    header: 'Model',
    cell: ({ id, name }) => (
      <>
        {name}
        <br />
        <code>{id}</code>
      </>
    ),
  },
  {
    header: 'Id',
    wide: true,
    cell: ({ id }) => (
      <CopyButton text={id} label={`Copy ${id}`}>
        Copy
      </CopyButton>
    ),
  },
  { header: 'Kind', wide: true, cell: ({ kind }) => kind },
  {
    header: 'Input / 1M tokens',
    align: 'end',
    cell: ({ pricing }) => <Price price={perMillion(pricing.prompt) ?? otherPrice(pricing)} />,
  },
  {
    header: 'Output / 1M tokens',
    align: 'end',
    cell: ({ pricing }) => <Price price={perMillion(pricing.completion) ?? '–'} />,
  },
  {
    header: 'Context',
    align: 'end',
    wide: true,
    cell: ({ context_length }) => (context_length > 0 ? formatCompact(context_length) : '–'),
  },
  {
    header: 'Output limit',
    align: 'end',
    wide: true,
    cell: ({ top_provider: { max_completion_tokens: most } }) =>
      most === null ? '–' : formatCompact(most),
  },
  {
    header: 'Providers',
    wide: true,
    cell: ({ routes = [] }) =>
      [...new Set(routes.map(({ provider_name }) => provider_name))].join(', '),
  },
  { header: 'Health', cell: ({ routes = [] }) => <ModelHealth routes={routes} /> },
];

/** Returns the first price of a model that is not billed by input tokens. */
function otherPrice(pricing: Model['pricing']): PriceShown {
  const [price] = pricesOf(pricing);
  if (!price) return 'free';
  return price.unit === '1M tokens' ? '–' : { ...price, usd: `${price.usd} / ${price.unit}` };
}

type PriceShown = string | { usd: string; credits: string };

/** A price in US dollars and credits. */
function Price({ price }: { price: PriceShown }): ReactNode {
  if (typeof price === 'string') return price;
  return (
    <>
      {price.usd}
      <br />
      <small className="muted">{price.credits} credits</small>
    </>
  );
}

/** The models that the tenant can call. */
export function ModelsPage(): ReactNode {
  const [{ q = '', kind = '', input = '', provider = '', model, free }, setFilters] = useFilters([
    'q',
    'kind',
    'input',
    'provider',
    'model',
    'free',
  ]);
  const models = useQuery({
    queryKey: ['models'],
    queryFn: ({ signal }) =>
      api.GET('/v1/models', { params: { query: { include_routes: 'true' } }, signal }),
    refetchInterval: 30_000,
  });
  const search = useDeferredValue(q.trim().toLowerCase());
  const data = models.data?.data;
  const providers = useMemo(() => {
    const routes = (data ?? []).flatMap((each) => each.routes ?? []);
    const names = new Map(routes.map((route) => [route.provider, route.provider_name]));
    return [...names].toSorted(([, one], [, other]) => one.localeCompare(other));
  }, [data]);
  return (
    <Page
      title="Models"
      description="Models that your keys can call. Prices are in US dollars; 1,000,000 credits are $1.00."
    >
      <div className="filters">
        <TextField
          label="Search"
          type="search"
          placeholder="Name, id or description"
          value={q}
          onChange={(text) => setFilters({ q: text })}
        />
        <FilterSelect
          any="all"
          label="Kind"
          value={kind}
          options={KINDS}
          onChange={(next) => setFilters({ kind: next })}
        />
        <FilterSelect
          any="all"
          label="Input"
          value={input}
          options={INPUTS}
          onChange={(next) => setFilters({ input: next })}
        />
        <FilterSelect
          any="all"
          label="Provider"
          value={provider}
          options={providers}
          onChange={(next) => setFilters({ provider: next })}
        />
        <Checkbox
          label="Free only"
          checked={free === '1'}
          onChange={(isOn) => setFilters({ free: isOn ? '1' : undefined })}
        />
      </div>
      <Card>
        <QueryState query={models}>
          {({ data: all }) => {
            const found = all.filter(
              (each) =>
                (kind === '' || each.kind === kind) &&
                (input === '' || each.architecture?.input_modalities.includes(input) === true) &&
                (provider === '' || each.routes?.some((route) => route.provider === provider)) &&
                (free !== '1' || pricesOf(each.pricing).length === 0) &&
                `${each.id} ${each.name} ${each.description}`.toLowerCase().includes(search),
            );
            const opened = all.find(({ id }) => id === model);
            return (
              <>
                <SteppedTable
                  caption="Models"
                  columns={COLUMNS}
                  rows={found}
                  step={STEP}
                  rowKey={({ id }) => id}
                  onOpen={({ id }) => setFilters({ model: id })}
                  empty={
                    <EmptyState title={all.length === 0 ? 'No models yet' : 'No matching models'}>
                      {all.length === 0
                        ? 'Models appear here once a provider is available. Add a BYOK account under Integrations, or ask the operator.'
                        : 'Change the search or the filters.'}
                    </EmptyState>
                  }
                />
                {opened && (
                  <ModelDrawer model={opened} onClose={() => setFilters({ model: undefined })} />
                )}
              </>
            );
          }}
        </QueryState>
      </Card>
    </Page>
  );
}
