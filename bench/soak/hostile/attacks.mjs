import { creditAttack } from './credit-attack.mjs';
import { doorsAttack } from './doors-attack.mjs';
import { drainAttack } from './drain-attack.mjs';
import { figuresAttack } from './figures-attack.mjs';
import { bodiesAttack, floodAttack } from './flood-attack.mjs';
import { jsonAttack, vectorsAttack } from './json-attack.mjs';
import { keysAttack } from './keys-attack.mjs';
import { leaversAttack } from './disconnect-attack.mjs';
import { managementAttack } from './management-attack.mjs';
import { messagesAttack } from './messages-attack.mjs';
import { ownLimitsAttack } from './own-limits-attack.mjs';
import { ownRulesAttack } from './own-rules-attack.mjs';
import { pipelinesAttack } from './pipelines-attack.mjs';
import { rightsAttack } from './rights-attack.mjs';
import { jobsAttack, scansAttack } from './share-attack.mjs';
import { socketsAttack } from './sockets-attack.mjs';

/**
 * All attacks in order. `run` receives the target and returns lines. `before` are the same figures
 * without defences (of the first attacks at commit 6454088), measured on a busy machine with two cores.
 * `isQuiet`: the neighbour's latency is meaningless; `neighbour`: another body for the neighbour;
 * `prepare`: runs before its quiet latency is measured; `cleanUp`: runs at the end.
 */
export const ATTACKS = [
  leaversAttack,
  ownLimitsAttack,
  drainAttack,
  creditAttack,
  figuresAttack,
  rightsAttack,
  scansAttack,
  ownRulesAttack,
  jobsAttack,
  jsonAttack,
  vectorsAttack,
  floodAttack,
  bodiesAttack,
  keysAttack,
  socketsAttack,
  pipelinesAttack,
  messagesAttack,
  doorsAttack,
  managementAttack,
];
