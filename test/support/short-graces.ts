import { AbandonedAnswers } from '../../src/core/ledger/abandoned-answers.js';
import type { BootedGateway } from './boot-gateway.js';

/** Shortens the time for which a vendor is read on after its caller disconnects from two seconds to 0.1. */
export function shortenGraces({ gateway }: BootedGateway): void {
  gateway.application.get(AbandonedAnswers, { strict: false }).graceMs = 100;
}
