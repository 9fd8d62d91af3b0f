-- Reading a match to verify or rehearse it: all of these on one snapshot, without a lock.

-- name: saved_match
-- The match's row and its saved state.
SELECT f.id, f.code, coalesce(f.name, f.code) AS name, s.code AS sport, v.version, f.status, f.first_day,
       f.results_official, f.last_seq AS fixture_seq, b.last_seq, b.epoch, b.position, b.code_sha, b.snapshot, b.state_hash
  FROM fixture f
  JOIN scoreboard b ON b.fixture_id = f.id
  JOIN sport s ON s.id = f.sport_id
  JOIN scoring_program_version v ON v.id = b.rules_id
 WHERE f.id = $1

-- name: saved_rows
-- Rows of the log after a seq, oldest first.
SELECT t.seq, t.epoch, t.event_type, t.payload, t.override, t.actor, t.state_hash, t.resolved
  FROM timeline_item t WHERE t.stream_id = $1 AND t.seq > $2
 ORDER BY t.seq LIMIT $3

-- name: saved_lines
-- The match's computed lines; the key is NULL where the subject is not in the match.
SELECT c.key, l.subject_id, l.subject_role AS role, l.segment, l.computed, l.last_seq
  FROM stat_value l
  LEFT JOIN fixture_competitor c ON c.fixture_id = l.fixture_id AND c.participant_id = l.subject_id
 WHERE l.fixture_id = $1 AND l.occurred_on = $2 AND l.computed IS NOT NULL
 ORDER BY l.segment, l.subject_role, c.key, l.subject_id

-- name: saved_parts
-- The stored document, the head under segment ''.
SELECT d.segment, d.body, d.last_seq FROM published_document d WHERE d.fixture_id = $1 ORDER BY d.segment

-- name: saved_checkpoints
-- The checkpoints a replay of this epoch may start from.
SELECT c.position, c.seq, c.code_sha, c.state, c.state_hash, c.lines
  FROM scoring_checkpoint c WHERE c.fixture_id = $1 AND c.epoch = $2
 ORDER BY c.position

-- name: live_matches
-- Matches that are being played, also of one sport only.
SELECT f.id FROM fixture f JOIN sport s ON s.id = f.sport_id
 WHERE f.status = 'LIVE' AND ($1::text IS NULL OR s.code = $1)
 ORDER BY f.id

-- name: newest_item
-- The newest row of all logs.
SELECT coalesce(max(t.id), 0) FROM timeline_item t

-- name: due_after
-- Matches that are over and got a row after this one (they ended, or were changed afterwards), and those that
-- were moved to another version after it; with the seq at which they are to be checked.
SELECT f.id, CASE WHEN f.status IN ('COMPLETED', 'ABANDONED') THEN f.last_seq ELSE max(t.seq) END AS seq
  FROM timeline_item t JOIN fixture f ON f.id = t.stream_id
 WHERE t.id > $1 AND (f.status IN ('COMPLETED', 'ABANDONED') OR t.event_type = 'match.move')
 GROUP BY f.id
 ORDER BY f.id

-- name: all_matches
-- Every match, also of one sport only, the newest first.
SELECT f.id FROM fixture f JOIN sport s ON s.id = f.sport_id JOIN scoreboard b ON b.fixture_id = f.id
 WHERE $1::text IS NULL OR s.code = $1
 ORDER BY f.id DESC
