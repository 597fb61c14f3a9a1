/**
 * The service was set up wrongly and does not start. Each problem is one line that names the
 * variable or the entry at fault and says what it should be; none holds a secret.
 */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}
