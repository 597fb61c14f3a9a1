import type { ReactNode } from 'react';
import { Badge } from '../ui';

const TONE_OF = { active: 'good', expired: 'warn', revoked: 'neutral' } as const;

/** Whether a key opens anything. */
export function KeyStatus({ status }: { status: keyof typeof TONE_OF }): ReactNode {
  return <Badge tone={TONE_OF[status]}>{status}</Badge>;
}

/** What a key is called, and how it begins. */
export function KeyName({ of: key }: { of: { name: string; key_preview: string } }): ReactNode {
  return (
    <>
      {key.name}
      <br />
      <span className="mono muted">{key.key_preview}</span>
    </>
  );
}
