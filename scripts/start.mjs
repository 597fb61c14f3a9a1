/** `npm start`: runs the service and, once it listens, builds the console in the background. */
import { announceConsole, buildConsoleBehind } from './build-console-later.mjs';
import { BUILT_SERVICE } from './ensure-built.mjs';
import { runBuilt } from './run-built.mjs';

let lacksConsole = false;
await runBuilt(BUILT_SERVICE, { onBuilt: () => (lacksConsole = announceConsole()) });
if (lacksConsole) buildConsoleBehind();
