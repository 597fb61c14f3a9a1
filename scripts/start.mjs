/** `npm start`: the service. */
import { BUILT_SERVICE } from './ensure-built.mjs';
import { runBuilt } from './run-built.mjs';

await runBuilt(BUILT_SERVICE);
