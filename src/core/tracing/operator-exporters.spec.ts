import { describe, expect, it } from '@jest/globals';
import { reportOutages } from './operator-exporters.js';

type Result = { code: number; error?: Error };

class ExporterDouble {
  result: Result = { code: 0 };
  readonly sent: string[] = [];

  export(batch: string, done: (result: Result) => void): void {
    this.sent.push(batch);
    done(this.result);
  }
}

describe('reportOutages', () => {
  const said: string[] = [];
  const logger = {
    warn: (line: string) => void said.push(`warn: ${line}`),
    log: (line: string) => void said.push(`log: ${line}`),
  };

  it('logs the start and end of an outage, and passes every batch on', () => {
    const exporter = new ExporterDouble();
    const reported = reportOutages(exporter, 'traces', logger);
    const results: Result[] = [];
    const send = (batch: string, result: Result): void => {
      exporter.result = result;
      reported.export(batch, (each) => results.push(each));
    };
    send('a', { code: 0 });
    expect(said).toEqual([]);
    const failure = { code: 1, error: new Error(`Not\nfound ${'x'.repeat(1_000)}`) };
    send('b', failure);
    send('c', failure);
    send('d', { code: 0 });
    send('e', { code: 0 });
    expect(said).toEqual([
      `warn: OpenTelemetry export of traces failing: Not found ${'x'.repeat(190)}`,
      'log: OpenTelemetry export of traces recovered',
    ]);
    expect(exporter.sent).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(results).toHaveLength(5);
    expect(results[1]).toBe(failure);
  });
});
