import { Logger } from '@nestjs/common';
import { Logger as GraphileLogger } from 'graphile-worker';

/** Passes on what may interest an operator: failures, not each wake-up. */
export function graphileLogger(): GraphileLogger {
  const logger = new Logger('WorkQueue');
  return new GraphileLogger(() => (level, message) => {
    const name: string = level;
    if (name === 'error' || name === 'warning') logger.warn(message);
  });
}
