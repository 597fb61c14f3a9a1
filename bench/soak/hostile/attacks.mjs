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
 * Every attack in the order in which it is made. `run` gets the stronghold and returns lines;
 * `before` are the same figures before there was anything against it (of the first attacks at commit 6454088), from a
 * machine of two cores that had other work to do. `isQuiet` is set where the neighbour's time says
 * nothing, `neighbour` is the body that it asks instead of its usual one, `prepare` comes before its
 * quiet time is measured, and `cleanUp` after everything.
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
