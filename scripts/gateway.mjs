/** `npm run gateway -- …`: the operator's commands, after the same preparation as `npm start`. */
import { BUILT_COMMANDS } from './ensure-built.mjs';
import { runBuilt } from './run-built.mjs';

// Standard output belongs to the command: somebody may be piping it on.
await runBuilt(BUILT_COMMANDS, { say: console.error });
