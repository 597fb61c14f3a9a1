import type { ReactNode } from 'react';
import type { components } from '../../api/schema';
import { formatCount } from '../../format/credits';
import { formatDay } from '../../format/times';
import { useSession } from '../../session/session';
import { Badge, ButtonLink, CopyButton, DataTable, Drawer, Facts, type Tone } from '../../ui';
import { pricesOf } from './prices';

export type Model = components['schemas']['Model'];
type Route = components['schemas']['ModelRoute'];

const STATE: Record<Route['state'], readonly [Tone, string]> = {
  healthy: ['good', 'healthy'],
  cooling: ['warn', 'asked to wait'],
  open: ['bad', 'failing'],
  paused: ['warn', 'paused'],
};

/** How a model does: as well as the best of those who serve it. */
export function ModelHealth({ routes }: { routes: readonly Route[] }): ReactNode {
  const best = (['healthy', 'cooling', 'open', 'paused'] as const).find((state) =>
    routes.some((route) => route.state === state),
  );
  if (best === undefined) return <Badge tone="neutral">unknown</Badge>;
  const well = routes.filter(({ state }) => state === 'healthy').length;
  if (best === 'healthy' && well < routes.length) {
    return (
      <Badge tone="warn">
        {well} of {routes.length} healthy
      </Badge>
    );
  }
  const [tone, text] = STATE[best];
  return <Badge tone={tone}>{text}</Badge>;
}

/** Everything about one model. */
export function ModelDrawer({ model, onClose }: { model: Model; onClose: () => void }): ReactNode {
  const { can } = useSession();
  const { architecture, top_provider: limits, routes = [] } = model;
  const prices = pricesOf(model.pricing);
  return (
    <Drawer title={model.name} open onOpenChange={(open) => !open && onClose()}>
      <div className="row">
        <code>{model.id}</code>
        <CopyButton text={model.id} label="Copy the id" />
        {can('develop') && model.kind === 'chat' && (
          <ButtonLink variant="primary" to="/playground" search={{ model: model.id }}>
            Try in the playground
          </ButtonLink>
        )}
        {can('read') && (
          <ButtonLink to="/requests" search={{ model: model.id }}>
            Its requests
          </ButtonLink>
        )}
      </div>
      {model.description !== '' && <p>{model.description}</p>}
      <h3>Prices</h3>
      {prices.length === 0 ? (
        <p className="muted">It is free.</p>
      ) : (
        <Facts
          facts={prices.map(({ label, usd, credits, unit }) => [
            label,
            `${usd} or ${credits} credits per ${unit}`,
          ])}
        />
      )}
      <h3>Served by</h3>
      <DataTable
        caption="Who serves it, in the order in which they are tried"
        columns={[
          {
            id: 'provider',
            header: 'Provider',
            cell: (route: Route) => route.provider_name,
          },
          {
            id: 'state',
            header: 'State',
            cell: ({ state }: Route) => <Badge tone={STATE[state][0]}>{STATE[state][1]}</Badge>,
          },
          {
            id: 'account',
            header: 'Account',
            cell: ({ is_own_account }: Route) => (is_own_account ? 'your own' : 'shared'),
          },
        ]}
        rows={routes}
        rowKey={({ provider }) => provider}
      />
      <h3>What it can do</h3>
      <Facts
        facts={[
          ['Kind', model.kind ?? '–'],
          ...(architecture
            ? ([
                ['Takes', architecture.input_modalities.join(', ')],
                ['Gives', architecture.output_modalities.join(', ')],
              ] as const)
            : []),
          ['Context', `${formatCount(limits.context_length)} tokens`],
          [
            'Output limit',
            limits.max_completion_tokens === null
              ? 'not known'
              : `${formatCount(limits.max_completion_tokens)} tokens`,
          ],
          ['Parameters', model.supported_parameters.join(', ') || '–'],
          ['Made by', model.owned_by],
          ['Released', formatDay(new Date(model.created * 1_000))],
        ]}
      />
    </Drawer>
  );
}
