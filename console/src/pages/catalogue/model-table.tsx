import { useState, type ReactNode } from 'react';
import { api } from '../../api/client';
import { useCursorList } from '../../api/queries';
import { useSession } from '../../session/session';
import { useFilters } from '../../shell/use-filters';
import {
  Badge,
  Button,
  Card,
  EmptyState,
  MoreButton,
  PagedTable,
  SearchField,
  type Column,
} from '../../ui';
import type { Config, Model } from './config';
import { PriceDialog } from './price-dialog';
import { isPriceName, priceOf, PRICES } from './prices';
import { SourceBadge } from './source-badge';

/** The models with their effective prices and the source of each. */
export function ModelTable({ config }: { config: Config }): ReactNode {
  const { can } = useSession();
  const [{ model: search = '' }, setFilters] = useFilters(['model']);
  const [edited, setEdited] = useState<Model>();
  const models = useCursorList(
    ['admin', 'config', 'models', config.catalogue_fingerprint, search],
    (page, signal) =>
      api.GET('/v1/admin/config/models', {
        params: { query: { ...(search && { search }), ...page } },
        signal,
      }),
  );
  const columns: Column<Model>[] = [
    { header: 'Model', cell: ({ id }) => id },
    {
      header: 'Input per 1M tokens',
      align: 'end',
      cell: ({ pricing }) => priceOf('prompt', pricing.prompt),
    },
    {
      header: 'Output per 1M tokens',
      align: 'end',
      cell: ({ pricing }) => priceOf('completion', pricing.completion),
    },
    {
      header: 'Other prices',
      wide: true,
      cell: ({ pricing }) => (
        <span className="muted">
          {Object.entries(pricing)
            .flatMap(([name, price]) =>
              name === 'prompt' || name === 'completion' || price === '0' || !isPriceName(name)
                ? []
                : [`${PRICES[name].label} ${priceOf(name, price)}`],
            )
            .join(' · ') || '–'}
        </span>
      ),
    },
    {
      header: 'Source',
      cell: ({ source, is_overridden }) => (
        <>
          {source === 'default' ? (
            <Badge tone="neutral">built in</Badge>
          ) : (
            <SourceBadge source={source} />
          )}{' '}
          {is_overridden && <Badge tone="warn">overridden by file</Badge>}
        </>
      ),
    },
  ];
  if (can('operator:write')) {
    columns.push({
      header: 'Actions',
      cell: (model) => (
        <Button
          variant="quiet"
          aria-label={`Edit prices of ${model.id}`}
          onClick={() => setEdited(model)}
        >
          Edit prices
        </Button>
      ),
    });
  }
  return (
    <>
      <div className="filters">
        <SearchField
          label="Model"
          value={search}
          placeholder="Part of a name"
          onSearch={(model) => setFilters({ model })}
        />
      </div>
      <Card>
        <PagedTable
          query={models}
          caption="Models and prices"
          columns={columns}
          rowKey={({ id }) => id}
          empty={
            <EmptyState title="No matching models">
              <span>Search for another part of the name.</span>
            </EmptyState>
          }
        />
      </Card>
      <MoreButton query={models} />
      {edited && (
        <PriceDialog
          model={edited}
          latest={config.version}
          isOverridden={edited.is_overridden}
          onClose={() => setEdited(undefined)}
        />
      )}
    </>
  );
}
