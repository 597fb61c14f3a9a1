import { runBroadcastOutage } from './broadcast-outage-scenario.mjs';
import { runBroadcast } from './broadcast-scenario.mjs';
import { runDrain } from './drain-scenario.mjs';
import { runFrozen } from './frozen-scenario.mjs';
import { runHostile } from './hostile/hostile-scenario.mjs';
import { runMixed } from './mixed-scenario.mjs';
import { runOutage } from './outage-scenario.mjs';
import { runRolling } from './rolling-scenario.mjs';
import { runStalled } from './stalled-scenario.mjs';
import { runStreams } from './streams-scenario.mjs';
import { runUploads } from './uploads-scenario.mjs';

/** All scenarios in order. Each gets a newly started gateway. */
export const SCENARIOS = [
  { id: 'streams', run: runStreams },
  { id: 'stalled', run: runStalled },
  { id: 'outage', run: runOutage },
  { id: 'drain', run: runDrain },
  { id: 'frozen', run: runFrozen },
  { id: 'rolling', run: runRolling },
  { id: 'broadcast', run: runBroadcast },
  { id: 'broadcast-outage', run: runBroadcastOutage },
  { id: 'uploads', run: runUploads },
  { id: 'hostile', run: runHostile },
  { id: 'mixed', run: runMixed },
];
