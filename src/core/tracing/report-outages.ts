import type { Logger } from '@nestjs/common';

/** `ExportResultCode.SUCCESS` of OpenTelemetry's exporters. */
const SUCCESS = 0;

interface ExportResult {
  readonly code: number;
  readonly error?: Error;
}

interface Exporter<Batch> {
  export(batch: Batch, done: (result: ExportResult) => void): void;
}

/**
 * Has an exporter say when its collector stops taking what it is sent, and when it does again: once
 * each, not for every batch.
 *
 * @param what is exported, for the log
 * @returns the same exporter
 */
export function reportOutages<Batch, Kind extends Exporter<Batch>>(
  exporter: Kind & Exporter<Batch>,
  what: string,
  logger: Pick<Logger, 'warn' | 'log'>,
): Kind {
  const send = exporter.export.bind(exporter);
  let isFailing = false;
  exporter.export = (batch, done) =>
    send(batch, (result) => {
      const hasFailed = result.code !== SUCCESS;
      if (hasFailed && !isFailing) {
        logger.warn(`The operator's collector does not take ${what}: ${reasonOf(result)}`);
      } else if (!hasFailed && isFailing) {
        logger.log(`The operator's collector takes ${what} again`);
      }
      isFailing = hasFailed;
      done(result);
    });
  return exporter;
}

/** Its first words: a collector's answer may be long, and of many lines. */
function reasonOf({ error }: ExportResult): string {
  return (error?.message ?? 'no reason given').replace(/\s+/g, ' ').slice(0, 200);
}
