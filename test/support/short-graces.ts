import { AbandonedAnswers } from '../../src/core/ledger/abandoned-answers.js';
import type { BootedGateway } from './boot-gateway.js';

/** Vendors that would never end are listened to for a tenth of a second after their caller has left, instead of two. */
export function shortenGraces({ gateway }: BootedGateway): void {
  gateway.application.get(AbandonedAnswers, { strict: false }).graceMs = 100;
}
