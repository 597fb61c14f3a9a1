import type { ReactNode } from 'react';
import { Badge } from '../ui';

const TONE_OF = { active: 'good', expired: 'warn', revoked: 'neutral' } as const;

/** The status of a key. */
export function KeyStatus({ status }: { status: keyof typeof TONE_OF }): ReactNode {
  return <Badge tone={TONE_OF[status]}>{status}</Badge>;
}

/** The name of a key with the beginning of its secret. */
export function KeyName({ of: key }: { of: { name: string; key_preview: string } }): ReactNode {
  return (
    <>
      {key.name}
      <br />
      <span className="mono muted">{key.key_preview}</span>
    </>
  );
}
