/** The one place that reads the environment of this process. */
export function processEnvironment(): NodeJS.ProcessEnv {
  return process.env;
}
