-- Taking a match out whole, and putting one in.

-- name: transfer_head
-- The match, and the version with this code.
SELECT f.code, coalesce(f.name, f.code) AS name, s.code AS sport, s.name AS sport_name, v.version, f.first_day,
       c.code AS competition, f.last_seq
  FROM fixture f
  JOIN sport s ON s.id = f.sport_id
  LEFT JOIN competition c ON c.id = f.competition_id
  LEFT JOIN scoring_program_version v ON v.sport_id = f.sport_id AND v.code_sha = $2
 WHERE f.id = $1

-- name: transfer_competitors
-- Everybody in a match, sides before players, with the party behind each.
SELECT c.key, coalesce(c.name, p.name) AS name, side.key AS side, p.id AS party, p.type, p.code, p.name AS party_name
  FROM fixture_competitor c
  JOIN participant p ON p.id = c.participant_id
  LEFT JOIN fixture_competitor side ON side.fixture_id = c.fixture_id AND side.id = c.parent_id
 WHERE c.fixture_id = $1 AND c.key IS NOT NULL
 ORDER BY c.parent_id NULLS FIRST, c.ordinal, c.id

-- name: transfer_external_ids
-- The outside ids of a match and of its parties.
SELECT m.internal_id, m.source_code, m.external_id
  FROM external_id_map m
 WHERE (m.entity_type = 'fixture' AND m.internal_id = $1)
    OR (m.entity_type = 'participant' AND m.internal_id = ANY ($2::uuid[]))
 ORDER BY m.source_code, m.external_id

-- name: transfer_rows
-- Rows of a log from one seq to another.
SELECT t.seq, t.epoch, t.event_type, t.payload, t.override, t.idempotency_key, t.actor, t.device, t.source_code,
       t.sent_at, t.received_at, t.state_hash, t.emits, t.warnings, t.lines_before, t.resolved
  FROM timeline_item t WHERE t.stream_id = $1 AND t.seq BETWEEN $2 AND $3
 ORDER BY t.seq

-- name: match_of_id
-- Whether there is a match of this id, and how far it is.
SELECT f.last_seq FROM fixture f WHERE f.id = $1

-- name: code_is_taken
SELECT EXISTS (SELECT FROM fixture f WHERE f.sport_id = $1 AND f.code = $2)

-- name: known_parties
-- Parties by their id, or of the sport (or all sports) by type, code and name, a merged one as the one that survived.
WITH RECURSIVE found (key, direct, id) AS (
    SELECT n.key, p.id = n.id, p.id
      FROM unnest($2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[]) AS n (key, id, type, code, name)
      JOIN participant p
        ON p.id = n.id
        OR (p.code = n.code AND p.type = n.type AND lower(p.name) = lower(n.name)
            AND (p.sport_id = $1 OR p.sport_id IS NULL))
    UNION
    SELECT f.key, f.direct, p.merged_into_id FROM found f JOIN participant p ON p.id = f.id
     WHERE p.merged_into_id IS NOT NULL
)
SELECT f.key, f.direct, f.id FROM found f JOIN participant p ON p.id = f.id WHERE p.merged_into_id IS NULL
 ORDER BY f.direct DESC, f.id

-- name: codes_taken
SELECT p.code FROM participant p WHERE p.sport_id = $1 AND p.code = ANY ($2::text[])

-- name: add_outside_ids
-- Outside ids of what is new here. One that is known here already stays as it is.
INSERT INTO external_id_map (id, source_code, entity_type, external_id, internal_id, origin, created_by)
SELECT n.id, n.source, $1, n.external, n.internal, 'import', $6
  FROM unnest($2::uuid[], $3::text[], $4::text[], $5::uuid[]) AS n (id, source, external, internal)
    ON CONFLICT (source_code, entity_type, external_id) DO NOTHING

-- name: add_imported_fixture
INSERT INTO fixture (id, sport_id, competition_id, code, name, archetype, format_code, status, first_day, format, result,
                     results_official, last_seq, scoring_program_version_id)
VALUES ($1, $2, $3, $4, $5, 'HEAD_TO_HEAD', $6, $7, $8, $9::jsonb, $10::jsonb, $11, $12, $13)

-- name: add_imported_competitors
INSERT INTO fixture_competitor (id, fixture_id, participant_id, parent_id, key, name, ordinal, rank, result_status)
SELECT n.id, $1, n.participant, n.parent, n.key, n.name, n.ordinal, n.rank,
       CASE WHEN n.rank IS NULL THEN 'ENTERED' ELSE 'FINISHED' END
  FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::integer[], $8::integer[])
       AS n (id, participant, parent, key, name, ordinal, rank)

-- name: add_rows
-- Rows of a log as they stood elsewhere, and their notes for the outbox: nobody has heard of them here.
WITH rows AS (
    SELECT * FROM json_to_recordset($2::json) AS n (
        seq bigint, epoch bigint, code text, input json, override json, id uuid, account text, device text,
        provider text, sent_at timestamptz, received_at timestamptz, state_hash text, emits json, warnings json,
        lines_before json, resolved json)
), logged AS (
    INSERT INTO timeline_item (
        stream_id, seq, epoch, event_type, payload, override, idempotency_key, actor, device, source_code, sent_at,
        received_at, state_hash, emits, warnings, lines_before, resolved)
    SELECT $1, n.seq, n.epoch, n.code, n.input, ARRAY(SELECT json_array_elements_text(n.override)), n.id, n.account,
           n.device, n.provider, n.sent_at, n.received_at, decode(n.state_hash, 'hex'),
           ARRAY(SELECT json_array_elements_text(n.emits)), n.warnings, n.lines_before,
           CASE WHEN json_typeof(n.resolved) <> 'null' THEN n.resolved END
      FROM rows n ORDER BY n.seq
)
INSERT INTO domain_event (fixture_id, seq, epoch, event_type, emits)
SELECT $1, n.seq, n.epoch, n.code, ARRAY(SELECT json_array_elements_text(n.emits)) FROM rows n

-- name: add_imported_scoreboard
INSERT INTO scoreboard (fixture_id, snapshot, last_seq, events_seq, position, epoch, rules_id, code_sha, state_hash)
VALUES ($1, $2::json, $3, $4, $5, $6, $7, $8, $9)

-- name: add_checkpoints
INSERT INTO scoring_checkpoint (fixture_id, epoch, position, seq, code_sha, state, state_hash)
SELECT $1, $2, n.position, n.seq, $3, n.state::json, n.hash
  FROM unnest($4::bigint[], $5::bigint[], $6::text[], $7::bytea[]) AS n (position, seq, state, hash)

-- name: add_lines
INSERT INTO stat_value (fixture_id, subject_id, subject_role, segment, occurred_on, sport_id, competition_id, format_code,
                        computed, last_seq)
SELECT $1, n.subject, n.role, n.segment, $2, $3, $4, $5, n.computed::json, $6
  FROM unnest($7::uuid[], $8::text[], $9::text[], $10::text[]) AS n (subject, role, segment, computed)

-- name: add_document
INSERT INTO published_document (fixture_id, segment, body, last_seq, epoch)
SELECT $1, n.segment, n.body::json, $2, $3 FROM unnest($4::text[], $5::text[]) AS n (segment, body)
