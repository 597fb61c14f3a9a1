import { useQuery } from '@tanstack/react-query';
import { useId, useState, type ReactNode } from 'react';
import { api } from '../api/client';
import { fromLocalInput, toLocalInput } from '../format/times';
import { RANGE_OPTIONS } from '../parts/ranges';
import { Button, FilterSelect, TextField, FilterInput, type Option } from '../ui';
import { SearchBox } from './search-box';
import { REQUEST_FILTERS, type RequestFilterName, type RequestFilters } from './request-filters';

interface Props {
  filters: RequestFilters;
  onChange: (changes: RequestFilters) => void;
  /** True when requests of all tenants are listed, for which the API has no facets. */
  overTenants?: boolean;
  /** Tenants to choose from. */
  tenants?: readonly { id: string; name: string }[] | undefined;
  /** Opens a request by its id. */
  onOpen?: (requestId: string) => void;
}

/** The filters of a request list. */
export function FilterForm({
  filters,
  onChange,
  overTenants = false,
  tenants = [],
  onOpen,
}: Props): ReactNode {
  const facets = useQuery({
    queryKey: ['log-facets'],
    queryFn: ({ signal }) => api.GET('/v1/customer/logs/facets', { signal }),
    staleTime: 60_000,
    enabled: !overTenants,
  });
  const { models, providers, endpoints, api_keys: keys, tags } = facets.data ?? {};
  const isSet = REQUEST_FILTERS.some((name) => filters[name] !== undefined);
  const isCustom = filters.start_date !== undefined || filters.end_date !== undefined;
  const [picksDates, setPicksDates] = useState(false);
  /** Narrow screens only; wide ones always show the filters. */
  const [isOpen, setIsOpen] = useState(false);
  const panelId = useId();
  const choice = (label: string, name: RequestFilterName, options: readonly Option[]) => (
    <FilterSelect
      label={label}
      value={filters[name] ?? ''}
      options={options}
      onChange={(value) => onChange({ [name]: value })}
    />
  );
  const text = (label: string, name: RequestFilterName, type: 'text' | 'number' = 'text') => (
    <FilterInput
      label={label}
      type={type}
      value={filters[name] ?? ''}
      onChange={(value) => onChange({ [name]: value })}
    />
  );
  return (
    <div className="filters" role="search" aria-label="Filter requests">
      <div className="filters-search">
        <SearchBox onChange={onChange} onOpen={onOpen} />
      </div>
      <Button
        data-narrow=""
        aria-expanded={isOpen}
        aria-controls={panelId}
        onClick={() => setIsOpen(!isOpen)}
      >
        Filters{isSet && ' (active)'}
      </Button>
      <div id={panelId} className="filters-panel" data-open={isOpen ? '' : undefined}>
        <FilterSelect
          label="Time range"
          value={isCustom || picksDates ? 'custom' : (filters.range ?? '')}
          any="Any time"
          options={[...RANGE_OPTIONS, ['custom', 'Custom range']]}
          onChange={(value) => {
            setPicksDates(value === 'custom');
            onChange({
              range: value === 'custom' ? '' : value,
              ...(value === 'custom' ? {} : { start_date: '', end_date: '' }),
            });
          }}
        />
        {(isCustom || picksDates) && (
          <>
            <DateTimeField
              label="From"
              value={filters.start_date}
              onChange={(at) => onChange({ start_date: at })}
            />
            <DateTimeField
              label="To"
              value={filters.end_date}
              onChange={(at) => onChange({ end_date: at })}
            />
          </>
        )}
        {choice('Status', 'status', [
          ['success', 'Success'],
          ['error', 'Error'],
        ])}
        {overTenants ? (
          <>
            {text('Model', 'model')}
            {text('Provider', 'provider')}
            {choice(
              'Tenant',
              'tenant_id',
              tenants.map(({ id, name }) => [id, name]),
            )}
            {text('Tag (key=value)', 'tag')}
          </>
        ) : (
          <>
            {choice('Model', 'model', models ?? [])}
            {choice('Provider', 'provider', providers ?? [])}
            {choice('Endpoint', 'endpoint', endpoints ?? [])}
            {choice(
              'API key',
              'api_key_id',
              (keys ?? []).map(({ id, name }) => [id, name ?? id.slice(0, 8)]),
            )}
            {choice(
              'Tag',
              'tag',
              (tags ?? []).flatMap(({ key, values }) => values.map((value) => `${key}=${value}`)),
            )}
          </>
        )}
        {text('End user', 'end_user')}
        {text('Min. cost (credits)', 'min_cost', 'number')}
        {text('Max. cost (credits)', 'max_cost', 'number')}
        {isSet && (
          <Button
            onClick={() => {
              setPicksDates(false);
              onChange(Object.fromEntries(REQUEST_FILTERS.map((name) => [name, ''])));
            }}
          >
            Clear filters
          </Button>
        )}
      </div>
    </div>
  );
}

function DateTimeField({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (at: string) => void;
}): ReactNode {
  return (
    <TextField
      label={label}
      type="datetime-local"
      value={toLocalInput(value)}
      onChange={(text) => onChange(fromLocalInput(text) ?? '')}
    />
  );
}
