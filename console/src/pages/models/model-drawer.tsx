import { Fragment, type ReactNode } from 'react';
import type { components } from '../../api/schema';
import { formatCount } from '../../format/credits';
import { formatDay } from '../../format/times';
import { useSession } from '../../session/session';
import { ButtonLink, CopyButton, Drawer, Facts } from '../../ui';
import { Endpoints } from './endpoints';
import { pricesOf, type Pricing } from './prices';

export type Model = components['schemas']['Model'];

/** Details of a model. */
export function ModelDrawer({ model, onClose }: { model: Model; onClose: () => void }): ReactNode {
  const { can } = useSession();
  const { architecture, top_provider: limits, long_prompts: longPrompts = [] } = model;
  return (
    <Drawer title={model.name} onClose={onClose}>
      <div className="row">
        <code>{model.id}</code>
        <CopyButton text={model.id} label="Copy id" />
        {can('develop') && model.kind === 'chat' && (
          <ButtonLink variant="primary" to="/playground" search={{ model: model.id }}>
            Open in playground
          </ButtonLink>
        )}
        {can('read') && (
          <ButtonLink to="/requests" search={{ model: model.id }}>
            Show requests
          </ButtonLink>
        )}
      </div>
      {model.description !== '' && <p>{model.description}</p>}
      <h3>Prices</h3>
      <Prices of={model.pricing} />
      {longPrompts.map(({ above, pricing }) => (
        <Fragment key={above}>
          <p>For prompts above {formatCount(above)} tokens, all tokens are priced at:</p>
          <Prices of={pricing} />
        </Fragment>
      ))}
      <h3>Providers</h3>
      <Endpoints modelId={model.id} />
      <h3>Capabilities</h3>
      <Facts
        facts={[
          ['Kind', model.kind ?? '–'],
          ...(architecture
            ? ([
                ['Input', architecture.input_modalities.join(', ')],
                ['Output', architecture.output_modalities.join(', ')],
              ] as const)
            : []),
          ['Context', `${formatCount(limits.context_length)} tokens`],
          [
            'Output limit',
            limits.max_completion_tokens === null
              ? 'Unknown'
              : `${formatCount(limits.max_completion_tokens)} tokens`,
          ],
          ['Parameters', model.supported_parameters.join(', ') || '–'],
          ['Vendor', model.owned_by],
          ['Released', formatDay(new Date(model.created * 1_000))],
        ]}
      />
    </Drawer>
  );
}

function Prices({ of: pricing }: { of: Pricing }): ReactNode {
  const prices = pricesOf(pricing);
  if (prices.length === 0) return <p className="muted">Free of charge.</p>;
  return (
    <Facts
      facts={prices.map(({ label, usd, credits, unit }) => [
        label,
        `${usd} or ${credits} credits per ${unit}`,
      ])}
    />
  );
}
