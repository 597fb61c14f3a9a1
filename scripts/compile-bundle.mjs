/**
 * A step of the build, as a process of its own: prints the API's description, as the bundle has it, and keeps
 * what V8 has compiled for that, which is most of what a start needs.
 *   node scripts/compile-bundle.mjs FOLDER   the folder has the bundle
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const loader = pathToFileURL(join(process.argv[2], 'load.mjs')).href;
const { COMPILED, loadBundle } = await import(loader);
const { programs, script } = loadBundle();
const { describeWithoutService } = await programs.openapi();
process.stdout.write(JSON.stringify(await describeWithoutService()));
writeFileSync(COMPILED, script.createCachedData());
