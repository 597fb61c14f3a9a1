/** `npm run start:worker`: runs only background work, after the same preparation as `npm start`. */
import { BUILT_WORKER } from './ensure-built.mjs';
import { runBuilt } from './run-built.mjs';

await runBuilt(BUILT_WORKER);
