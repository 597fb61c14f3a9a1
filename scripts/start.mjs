/** `npm start`: the service, and once it listens, the console behind it. */
import { announceConsole, buildConsoleBehind } from './build-console-later.mjs';
import { BUILT_SERVICE } from './ensure-built.mjs';
import { runBuilt } from './run-built.mjs';

let lacksConsole = false;
await runBuilt(BUILT_SERVICE, { onBuilt: () => (lacksConsole = announceConsole()) });
if (lacksConsole) buildConsoleBehind();
