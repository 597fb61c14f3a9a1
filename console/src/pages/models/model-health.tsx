import type { ReactNode } from 'react';
import type { components } from '../../api/schema';
import { Badge, type Tone } from '../../ui';

type Route = components['schemas']['ModelRoute'];

export const STATE: Record<Route['state'], readonly [Tone, string]> = {
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
