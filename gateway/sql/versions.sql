-- The versions of sports as the database knows them, and what is pinned to them.

-- name: register_version
-- A version by its code; what is there gets the status that is asked for.
INSERT INTO scoring_program_version (id, sport_id, version, code_sha, manifest, status)
VALUES ($1, $2, $3, $4, $5::json, $6)
ON CONFLICT (sport_id, code_sha) DO UPDATE SET status = excluded.status

-- name: unfinished_of_code
-- Matches of a sport that this code still has to score.
SELECT count(*) FROM fixture f JOIN scoreboard b ON b.fixture_id = f.id JOIN sport s ON s.id = f.sport_id
 WHERE s.code = $1 AND b.code_sha = $2 AND f.status <> ALL ($3::text[])

-- name: unfinished
-- Unfinished matches by the code they are pinned to.
SELECT s.code AS sport, v.version, b.code_sha, count(*) AS matches
  FROM fixture f
  JOIN scoreboard b ON b.fixture_id = f.id
  JOIN sport s ON s.id = f.sport_id
  JOIN scoring_program_version v ON v.id = b.rules_id
 WHERE f.status <> ALL ($1::text[])
 GROUP BY s.code, v.version, b.code_sha
