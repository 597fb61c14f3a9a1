import { RequestLogRollUpService } from '../../src/core/request-log/request-log-roll-up.service.js';
import type { Database } from '../../src/platform/database/database.js';
import { until } from './until.js';

/** Rolls up all rows of the log. Long transactions of other suites on the server can delay it. */
export async function rollUpAll(
  database: Database,
  rollUp = new RequestLogRollUpService(database),
): Promise<void> {
  await until(async () => {
    await rollUp.rollUpNow();
    const { rows } = await database.query(`
      SELECT FROM request_log_progress
      WHERE least(rolled_up_id, series_id) < (SELECT coalesce(max(id), 0) FROM request_logs)
        OR EXISTS (SELECT FROM request_log_corrections)
        OR EXISTS (SELECT FROM request_log_series_corrections)`);
    return rows.length === 0;
  });
}
