/** Backdates data that the API creates now, and adds people, who otherwise need a login at an issuer. */
import { createHash, randomUUID } from 'node:crypto';

const PEOPLE = [
  { role: 'owner', name: 'Ada Lovelace', email: 'ada@acme.example' },
  { role: 'developer', name: 'Grace Hopper', email: 'grace@acme.example' },
  { role: 'viewer', name: 'Vera Rubin', email: 'vera@acme.example' },
  { role: 'billing', name: 'Luca Pacioli', email: 'luca@acme.example' },
  { role: 'admin', name: 'Olga Ladyzhenskaya', email: 'olga@operator.example' },
  { role: 'auditor', name: 'Otto Hahn', email: 'otto@operator.example' },
];

/**
 * Adds people of every role with a session each, since there is no issuer here, and backdates everything
 * created so far.
 *
 * @returns session tokens by role
 */
export async function addPeople(pool, acmeId) {
  const sessions = {};
  for (const { role, name, email } of PEOPLE) {
    const isOperator = ['admin', 'auditor'].includes(role);
    const token = createHash('sha256').update(randomUUID()).digest('base64url');
    const { rows } = await pool.query(
      `INSERT INTO people (issuer, subject, email, name, operator_role, created_at, last_login_at)
       VALUES ('https://login.example', $1, $1, $2, $3, now() - interval '80 days', now()) RETURNING id`,
      [email, name, isOperator ? role : null],
    );
    if (!isOperator) {
      await pool.query('INSERT INTO memberships (person_id, tenant_id, role) VALUES ($1, $2, $3)', [
        rows[0].id,
        acmeId,
        role,
      ]);
    }
    await pool.query(
      `INSERT INTO sessions (token_hash, person_id, user_agent, expires_at)
       VALUES (sha256(convert_to($1, 'UTF8')), $2, 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0', now() + interval '12 hours')`,
      [token, rows[0].id],
    );
    sessions[role] = token;
  }
  return sessions;
}

/** Makes tenants and keys as old as the rows that name them, with changes and notifications in between. */
export async function dateBack(pool, days) {
  for (const table of ['tenants', 'api_keys', 'guardrails']) {
    await pool.query(
      `UPDATE ${table} SET created_at = now() - make_interval(days => $1) - (abs(hashtext(id::text)) % 40) * interval '1 day'
       WHERE created_at > now() - interval '1 day'`,
      [days],
    );
  }
  await pool.query(AUDITED_BEFORE, [days]);
  await pool.query(ALERTED_BEFORE);
}

/** Earlier changes of keys and logins, in the form that the service writes. */
const AUDITED_BEFORE = `
  INSERT INTO audit_log (actor_kind, actor_id, actor_name, tenant_id, action, target_type, target_id, before, after, created_at)
  SELECT 'api_key', key.id::text, key.name, key.tenant_id,
    (ARRAY['api_key.create', 'api_key.update', 'session.create'])[1 + g % 3],
    (ARRAY['api_key', 'api_key', 'session'])[1 + g % 3], gen_random_uuid()::text,
    CASE WHEN g % 3 = 1 THEN '{"name": "draft"}'::jsonb END, jsonb_build_object('name', 'service ' || g),
    now() - make_interval(mins => (g * ($1 * 1440.0 / 600))::integer + 60)
  FROM generate_series(1, 600) AS g
    JOIN LATERAL (SELECT * FROM api_keys WHERE type = 'management' ORDER BY md5(id::text || g) LIMIT 1) AS key ON true
  ORDER BY g DESC`;

const ALERTED_BEFORE = `
  INSERT INTO alert_events (rule_id, tenant_id, rule_name, kind, status, subject, threshold, period, is_open, detail,
    created_at, state, attempts, finished_at, last_error)
  SELECT rule.id, rule.tenant_id, rule.name, rule.kind, CASE WHEN g % 2 = 0 THEN 'firing' ELSE 'resolved' END,
    coalesce(rule.tenant_id::text, ''), '10', 'past-' || g / 2, false,
    '{"percent": 12.5, "requests": 480, "errors": 60, "window_minutes": 10}'::jsonb, at,
    CASE WHEN g % 9 = 0 THEN 'dropped' ELSE 'delivered' END, 1 + g % 3, at + interval '2 seconds',
    CASE WHEN g % 9 = 0 THEN 'the receiver answered with 500' END
  FROM alert_rules AS rule, generate_series(1, 40) AS g,
    LATERAL (SELECT now() - g * interval '31 hours' AS at) AS times
  WHERE kind = 'error_rate'`;
