/** `npm run gateway -- …`: runs an operator command, after the same preparation as `npm start`. */
import { BUILT_COMMANDS } from './ensure-built.mjs';
import { runBuilt } from './run-built.mjs';

// Standard output belongs to the command and may be piped.
await runBuilt(BUILT_COMMANDS, { say: console.error });
