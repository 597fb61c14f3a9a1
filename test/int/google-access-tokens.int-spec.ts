import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  fetchDefaultAccess,
  GoogleAccessTokens,
} from '../../src/vendors/vertex/google-access-tokens.js';
import { reply, startScriptedServer, type ScriptedServer } from '../contract/scripted-server.js';

const VARIABLE = 'GOOGLE_APPLICATION_CREDENTIALS';
const JSON_TYPE = { 'content-type': 'application/json' };

/** Credentials exchanged for a token at a local address. */
describe('application default credentials', () => {
  const before = process.env[VARIABLE];
  let folder: string;
  let server: ScriptedServer;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-adc-'));
    server = await startScriptedServer(() => undefined);
    const subject = join(folder, 'subject');
    await writeFile(subject, 'subject-token');
    await writeFile(
      join(folder, 'credentials.json'),
      JSON.stringify({
        type: 'external_account',
        audience:
          '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/a/providers/b',
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        token_url: `${server.origin}/token`,
        credential_source: { file: subject },
        quota_project_id: 'quota-project',
      }),
    );
  });
  afterEach(() => {
    if (before === undefined) delete process.env[VARIABLE];
    else process.env[VARIABLE] = before;
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  it('yield a token, its expiry and the project to bill', async () => {
    const token = { access_token: 'granted', expires_in: 3_600, token_type: 'Bearer' };
    server.script = reply(200, JSON_TYPE, Buffer.from(JSON.stringify(token)));
    process.env[VARIABLE] = join(folder, 'credentials.json');
    const access = await fetchDefaultAccess('my-project');
    expect(access).toMatchObject({ token: 'granted', quotaProject: 'quota-project' });
    expect(access.expiresAtMs).toBeGreaterThan(Date.now() + 3_000_000);
    expect(String(server.calls[0]?.body)).toContain('subject-token');
  });

  it('that are rejected or missing are the operator’s fault', async () => {
    server.script = reply(400, JSON_TYPE, Buffer.from('{"error":"invalid_grant"}'));
    for (const file of ['credentials.json', 'none.json']) {
      process.env[VARIABLE] = join(folder, file);
      const failing = new GoogleAccessTokens(() => fetchDefaultAccess('my-project')).get();
      await expect(failing).rejects.toMatchObject({
        failure: 'operator',
        message: expect.stringMatching(/^no access token from the application default credentials/),
      });
    }
  });
});
