/**
 * A service reduced to its database, for tests that kill it. Takes the launcher's options as JSON,
 * prints `{"url"}` or `{"error"}` and lives until SIGTERM; with `exitEarly` it exits at once without
 * stopping anything.
 */
import { setInterval } from 'node:timers';
import { attachEmbeddedPostgres, startEmbeddedPostgres } from './launcher/embedded-postgres.js';

const { attach, exitEarly, ...options } = JSON.parse(process.argv[2]);
const say = (message) => process.stdout.write(JSON.stringify(message) + '\n');
const open = attach ? attachEmbeddedPostgres : startEmbeddedPostgres;
try {
  const postgres = await open({ ...options, log: (line) => say({ log: line }) });
  process.on('SIGTERM', () => void postgres.stop().then(() => process.exit(0)));
  setInterval(() => {}, 60_000);
  say({ url: postgres.url });
  if (exitEarly) {
    process.exit(0);
  }
} catch (error) {
  say({ error: error.message });
  process.exit(1);
}
