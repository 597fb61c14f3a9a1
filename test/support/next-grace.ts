import { jest } from '@jest/globals';
import { AbandonedAnswers } from '../../src/core/ledger/abandoned-answers.js';
import type { BootedGateway } from './boot-gateway.js';

/**
 * Resolves when the service notices that a caller disconnected and reads on from the vendor alone.
 *
 * @param lengthMs duration of that grace period instead of two seconds
 */
export function nextGrace({ gateway }: BootedGateway, lengthMs?: number): Promise<void> {
  const answers = gateway.application.get(AbandonedAnswers, { strict: false });
  const begin = answers.beginGrace.bind(answers);
  return new Promise((resolve) => {
    jest.spyOn(answers, 'beginGrace').mockImplementationOnce((vendor) => {
      if (lengthMs !== undefined) setTimeout(() => answers.endGraces(), lengthMs);
      resolve();
      return begin(vendor);
    });
  });
}
