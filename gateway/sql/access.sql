-- Bearer tokens, by their sha256.

-- name: add_token
-- Nothing is added where the match it is bound to does not exist.
INSERT INTO token (id, hash, role, account, fixture_id, expires_at)
SELECT $1, $2, $3, $4, $5::uuid, $6
 WHERE $5::uuid IS NULL OR EXISTS (SELECT FROM fixture f WHERE f.id = $5)
RETURNING id

-- name: find_tokens
SELECT t.hash, t.role, t.account, t.fixture_id, f.code AS match_code
  FROM token t LEFT JOIN fixture f ON f.id = t.fixture_id
 WHERE t.hash = ANY ($1::bytea[]) AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())

-- name: revoke_token
UPDATE token SET revoked_at = now() WHERE hash = $1 AND revoked_at IS NULL RETURNING id
