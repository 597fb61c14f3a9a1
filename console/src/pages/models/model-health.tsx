import type { ReactNode } from 'react';
import type { components } from '../../api/schema';
import { Badge, type Tone } from '../../ui';

type Route = components['schemas']['ModelRoute'];

export const STATE: Record<Route['state'], readonly [Tone, string]> = {
  healthy: ['good', 'healthy'],
  cooling: ['warn', 'cooling down'],
  open: ['bad', 'failing'],
  paused: ['warn', 'paused'],
};

/** The health of a model: that of its best route. */
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
