import type { ReactNode } from 'react';
import { Badge } from '../../ui';
import type { Config } from './config';

const TEXT: Record<Config['settings'][number]['source'], string> = {
  version: 'version',
  file: 'file of this instance',
  variable: 'variable of this instance',
  default: 'default',
};

/** Where a value comes from; one that a file or a variable declares comes before the version. */
export function SourceBadge({
  source,
}: {
  source: Config['settings'][number]['source'];
}): ReactNode {
  const tone = source === 'version' ? 'info' : source === 'file' ? 'warn' : 'neutral';
  return <Badge tone={tone}>{TEXT[source]}</Badge>;
}
