import type { ReactNode } from 'react';
import { Badge } from '../../ui';
import type { Config } from './config';

const TEXT: Record<Config['settings'][number]['source'], string> = {
  version: 'version',
  file: 'file',
  variable: 'environment variable',
  default: 'default',
};

/** The source of a value. Files and environment variables override the version. */
export function SourceBadge({
  source,
}: {
  source: Config['settings'][number]['source'];
}): ReactNode {
  const tone = source === 'version' ? 'info' : source === 'file' ? 'warn' : 'neutral';
  return <Badge tone={tone}>{TEXT[source]}</Badge>;
}
