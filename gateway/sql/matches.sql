-- Reading a match: what the actor goes on from, what readers read.

-- name: match_of_code
-- A match by its code, which is unique in its sport; "sport:code" names the sport too. None where a plain code
-- is used in two sports.
SELECT (array_agg(f.id))[1]
  FROM fixture f JOIN sport s ON s.id = f.sport_id
 WHERE f.code = $1 AND ($2::text IS NULL OR s.code = $2)
HAVING count(*) = 1

-- name: match_head
-- The match's row, its saved state, and the head of its document (NULL where that is lost).
SELECT f.id, f.code, coalesce(f.name, f.code) AS name, s.code AS sport, v.version, b.code_sha, f.status, f.last_seq,
       b.events_seq, b.epoch, b.position, b.snapshot, b.state_hash,
       (SELECT d.body FROM published_document d WHERE d.fixture_id = f.id AND d.segment = '') AS head,
       (SELECT t.payload FROM timeline_item t WHERE t.stream_id = f.id AND t.seq = 1) AS opening,
       (SELECT json_agg(json_build_array(t.seq, t.actor, t.event_type, t.payload) ORDER BY t.seq)
          FROM timeline_item t
         WHERE t.stream_id = f.id AND t.event_type IN ('match.flag', 'match.official', 'match.reopen')) AS quiet_rows
  FROM fixture f
  JOIN scoreboard b ON b.fixture_id = f.id
  JOIN sport s ON s.id = f.sport_id
  JOIN scoring_program_version v ON v.id = b.rules_id
 WHERE f.id = $1

-- name: match_competitors
-- Everybody in a match under a key.
SELECT c.key, coalesce(c.name, p.name, c.placeholder_label) AS name, c.participant_id
  FROM fixture_competitor c LEFT JOIN participant p ON p.id = c.participant_id
 WHERE c.fixture_id = $1 AND c.key IS NOT NULL
 ORDER BY c.parent_id NULLS FIRST, c.ordinal, c.id

-- name: match_lines
-- A match's computed lines under the keys of their subjects, in the order they were first written.
SELECT c.key, l.subject_role AS role, l.segment, l.computed
  FROM fixture f
  JOIN stat_value l ON l.fixture_id = f.id AND l.occurred_on = f.first_day
  JOIN fixture_competitor c ON c.fixture_id = f.id AND c.participant_id = l.subject_id
 WHERE f.id = $1 AND l.computed IS NOT NULL AND c.key IS NOT NULL
 ORDER BY l.segment, l.subject_role, c.key

-- name: log_tail
-- The newest rows of a log, newest first.
SELECT t.seq, t.epoch, t.idempotency_key, t.event_type, t.payload, t.override, t.actor, t.device, t.source_code,
       t.sent_at, t.received_at, t.state_hash, t.emits, t.warnings
  FROM timeline_item t WHERE t.stream_id = $1
 ORDER BY t.seq DESC LIMIT $2

-- name: log_after
-- Rows of a log after a seq, oldest first.
SELECT t.seq, t.epoch, t.idempotency_key, t.event_type, t.payload, t.override, t.actor, t.device, t.source_code,
       t.sent_at, t.received_at, t.state_hash, t.emits, t.warnings
  FROM timeline_item t WHERE t.stream_id = $1 AND t.seq > $2
 ORDER BY t.seq LIMIT $3

-- name: log_row_of_id
-- The row of a command's id: one indexed read.
SELECT t.seq, t.epoch, t.idempotency_key, t.event_type, t.payload, t.override, t.actor, t.device, t.source_code,
       t.sent_at, t.received_at, t.state_hash, t.emits, t.warnings
  FROM timeline_item t WHERE t.stream_id = $1 AND t.idempotency_key = $2

-- name: log_rows
-- Some rows of a log by their seq, oldest first.
SELECT t.seq, t.epoch, t.idempotency_key, t.event_type, t.payload, t.override, t.actor, t.device, t.source_code,
       t.sent_at, t.received_at, t.state_hash, t.emits, t.warnings
  FROM timeline_item t WHERE t.stream_id = $1 AND t.seq = ANY ($2)
 ORDER BY t.seq

-- name: match_exists
SELECT EXISTS (SELECT FROM fixture f WHERE f.id = $1)

-- name: document
-- The stored document: a row per part with the position it stands at.
SELECT b.epoch, b.last_seq, b.state_hash, d.segment, d.body
  FROM scoreboard b JOIN published_document d ON d.fixture_id = b.fixture_id
 WHERE b.fixture_id = $1

-- name: match_list
-- Matches, live ones first, then the newest; `$1` picks a status. One whose head is lost is listed all the same.
WITH live AS (
    SELECT f.id FROM fixture f WHERE f.status = 'LIVE' AND ($1::text IS NULL OR $1 = 'LIVE')
     ORDER BY f.id DESC LIMIT $2
), others AS (
    SELECT f.id FROM fixture f WHERE f.status <> 'LIVE' AND ($1::text IS NULL OR f.status = $1)
     ORDER BY f.id DESC LIMIT $2
)
SELECT f.id, f.code, coalesce(f.name, f.code) AS name, s.code AS sport, f.status, f.last_seq,
       coalesce(d.body, '{}') AS head
  FROM fixture f
  JOIN sport s ON s.id = f.sport_id
  LEFT JOIN published_document d ON d.fixture_id = f.id AND d.segment = ''
 WHERE f.id IN (SELECT id FROM live UNION ALL SELECT id FROM others)
 ORDER BY f.status <> 'LIVE', f.id DESC
 LIMIT $2

-- name: newest_seqs
-- How far each of these matches is.
SELECT f.id, f.last_seq FROM fixture f WHERE f.id = ANY ($1::uuid[])

-- name: commit_batch
-- The one grouped commit call; see migrations.
SELECT item, kind, seq, epoch, detail FROM unnest(commit_batch($1)) ORDER BY item

-- name: commit_patiently
-- One item of a match that somebody else held.
SELECT item, kind, seq, epoch, detail FROM unnest(commit_patiently($1, $2))

-- name: commit_correction
-- One correction, alone.
SELECT item, kind, seq, epoch, detail FROM unnest(commit_correction($1, $2, $3, $4, $5, $6, $7))

-- name: commit_move
-- One move to another version, alone.
SELECT item, kind, seq, epoch, detail FROM unnest(commit_move($1, $2, $3, $4, $5, $6, $7, $8))

-- name: history
-- A whole log as corrections need it.
SELECT t.seq, t.event_type, t.payload, t.override, t.resolved, t.emits
  FROM timeline_item t WHERE t.stream_id = $1 ORDER BY t.seq

-- name: checkpoint
-- The newest checkpoint of the match's epoch and this code with at most so many events in it.
SELECT c.position, c.seq, c.state, c.lines
  FROM scoring_checkpoint c JOIN scoreboard b ON b.fixture_id = c.fixture_id AND b.epoch = c.epoch
 WHERE c.fixture_id = $1 AND c.code_sha = $2 AND c.position <= $3
 ORDER BY c.position DESC LIMIT 1

-- name: before_images
-- What the rows after a seq wrote over, newest first.
SELECT t.lines_before FROM timeline_item t WHERE t.stream_id = $1 AND t.seq > $2 ORDER BY t.seq DESC
