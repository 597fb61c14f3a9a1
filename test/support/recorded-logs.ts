import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';

/**
 * Mutes a log level and records the lines of one class. Services of other suites may still log: suites
 * of a Jest worker share `Logger`.
 */
export function recordLogs(level: 'log' | 'warn' | 'error', context: string) {
  const lines = jest.fn<(line: unknown) => void>();
  jest.spyOn(Logger.prototype, level).mockImplementation(function (this: Logger, line: unknown) {
    if ((this as unknown as { context?: string }).context === context) lines(line);
  });
  return lines;
}
