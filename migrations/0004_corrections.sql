-- Corrections: rows that change the past, and what they meant when they were written.

ALTER TABLE timeline_item ADD COLUMN resolved json;
COMMENT ON COLUMN timeline_item.resolved IS
    'Of a correction: what it meant when it was written (the event an undo took, events passed over by force, '
    'what was emitted and no longer holds).';

ALTER TYPE commit_item ADD ATTRIBUTE resolved text;

CREATE OR REPLACE FUNCTION commit_item(item commit_item, n bigint) RETURNS commit_outcome LANGUAGE plpgsql AS $$
DECLARE
    board record;
    seq   bigint := item.expect_seq + 1;
BEGIN
    -- Somebody else's lock is not waited for.
    SELECT f.last_seq, f.first_day, f.sport_id, f.competition_id, f.format_code,
           b.epoch, b.position + 1 AS position, b.code_sha,
           f.result IS NOT NULL AS decided
      INTO board
      FROM fixture f JOIN scoreboard b ON b.fixture_id = f.id
     WHERE f.id = item.match
       FOR NO KEY UPDATE OF f SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN ROW (n, 'busy', NULL, NULL, NULL)::commit_outcome;
    ELSIF board.last_seq <> item.expect_seq THEN
        RETURN ROW (n, 'stale', board.last_seq, board.epoch, NULL)::commit_outcome;
    ELSIF board.code_sha <> item.code_sha THEN
        RETURN ROW (n, 'code', board.last_seq, board.epoch, board.code_sha)::commit_outcome;
    END IF;

    INSERT INTO timeline_item (
        stream_id, seq, epoch, event_type, payload, override, idempotency_key, actor, device, source_code,
        sent_at, received_at, state_hash, emits, warnings, lines_before, resolved)
    VALUES (
        item.match, seq, board.epoch, item.code, item.input::json, item.override, item.id, item.account, item.device,
        item.provider, item.sent_at, item.received_at, item.state_hash, item.emits, item.warnings::json,
        item.lines_before::json, item.resolved::json);
    INSERT INTO domain_event (fixture_id, seq, epoch, event_type, emits)
    VALUES (item.match, seq, board.epoch, item.code, item.emits);
    UPDATE fixture f
       SET last_seq = seq, status = item.status, result = item.result::jsonb, updated_at = now()
     WHERE f.id = item.match;
    UPDATE scoreboard b
       SET snapshot = item.state::json, summary = item.summary::json, last_seq = seq, events_seq = seq,
           position = board.position, state_hash = item.state_hash, updated_at = now()
     WHERE b.fixture_id = item.match;
    IF board.position % 50 = 0 THEN
        INSERT INTO scoring_checkpoint (fixture_id, epoch, position, seq, code_sha, state, state_hash)
        VALUES (item.match, board.epoch, board.position, seq, item.code_sha, item.state::json, item.state_hash);
    END IF;
    IF cardinality(item.joined) > 0 THEN
        PERFORM commit_joined(item, board.sport_id);
    END IF;
    INSERT INTO stat_value (
        fixture_id, subject_id, subject_role, segment, occurred_on, sport_id, competition_id, format_code,
        computed, last_seq)
    SELECT item.match, l.participant, l.role, l.segment, board.first_day, board.sport_id, board.competition_id,
           board.format_code, l."values"::json, seq
      FROM unnest(item.lines) l
        ON CONFLICT (fixture_id, subject_id, subject_role, segment, occurred_on)
        DO UPDATE SET computed = excluded.computed, last_seq = excluded.last_seq, updated_at = now();
    INSERT INTO published_document (fixture_id, segment, body, last_seq, epoch)
    SELECT item.match, p.segment, p.body::json, seq, board.epoch
      FROM unnest(item.parts) p
        ON CONFLICT (fixture_id, segment)
        DO UPDATE SET body = excluded.body, last_seq = excluded.last_seq, epoch = excluded.epoch, updated_at = now();
    IF board.decided AND item.result IS NULL THEN
        UPDATE fixture_competitor c
           SET rank = NULL, result_status = 'ENTERED', updated_at = now()
         WHERE c.fixture_id = item.match AND c.rank IS NOT NULL;
    END IF;
    IF cardinality(item.ranks) > 0 THEN
        UPDATE fixture_competitor c
           SET rank = r.rank, result_status = 'FINISHED', updated_at = now()
          FROM unnest(item.ranks) r
         WHERE c.fixture_id = item.match AND c.key = r.key;
    END IF;
    RETURN ROW (n, 'committed', seq, board.epoch, NULL)::commit_outcome;
END $$;

CREATE FUNCTION commit_correction(
    item commit_item, changed_from bigint, new_position bigint, gone_lines commit_line[], gone_parts text[],
    patience_ms integer
) RETURNS commit_outcome[] LANGUAGE plpgsql AS $$
DECLARE
    board    record;
    outcomes commit_outcome[];
    stand    bigint;
    same     bigint;
BEGIN
    PERFORM set_config('lock_timeout', patience_ms::text, true);
    SELECT f.last_seq, f.first_day, b.epoch, b.position, b.code_sha INTO board
      FROM fixture f JOIN scoreboard b ON b.fixture_id = f.id
     WHERE f.id = item.match
       FOR NO KEY UPDATE OF f;
    IF NOT FOUND OR board.last_seq <> item.expect_seq OR board.code_sha <> item.code_sha THEN
        RETURN commit_batch(ARRAY[item]);  -- which says why not
    END IF;
    stand := coalesce(new_position, board.position - 1);
    same := coalesce(changed_from, stand);
    BEGIN
        -- Checkpoints before the change hold on in the new epoch, the others are of a past that is not.
        DELETE FROM scoring_checkpoint c
         WHERE c.fixture_id = item.match AND (c.position > same OR c.position = stand);
        UPDATE scoring_checkpoint c SET epoch = board.epoch + 1 WHERE c.fixture_id = item.match;
        UPDATE scoreboard b SET epoch = board.epoch + 1, position = stand - 1 WHERE b.fixture_id = item.match;
        UPDATE stat_value s SET computed = NULL, last_seq = item.expect_seq + 1, updated_at = now()
          FROM unnest(gone_lines) g
         WHERE s.fixture_id = item.match AND s.occurred_on = board.first_day AND s.subject_id = g.participant
           AND s.subject_role = g.role AND s.segment = g.segment AND s.pinned IS NOT NULL;
        DELETE FROM stat_value s USING unnest(gone_lines) g
         WHERE s.fixture_id = item.match AND s.occurred_on = board.first_day AND s.subject_id = g.participant
           AND s.subject_role = g.role AND s.segment = g.segment AND s.pinned IS NULL;
        DELETE FROM published_document d
         WHERE d.fixture_id = item.match
           AND CASE WHEN gone_parts IS NULL
                    THEN d.segment NOT IN (SELECT p.segment FROM unnest(item.parts) p)
                    ELSE d.segment = ANY (gone_parts) END;
        outcomes := commit_batch(ARRAY[item]);
        IF outcomes[1].kind <> 'committed' THEN
            RAISE EXCEPTION USING ERRCODE = 'SBNOT', MESSAGE = 'not committed';
        END IF;
    EXCEPTION WHEN SQLSTATE 'SBNOT' THEN
        NULL;  -- all of it is taken back; the outcome says why
    END;
    RETURN outcomes;
EXCEPTION WHEN lock_not_available THEN
    RETURN ARRAY[ROW (1, 'busy', NULL, NULL, NULL)::commit_outcome];
END $$;
COMMENT ON FUNCTION commit_correction IS
    'Saves a correction: as commit_item, with a new epoch, the lines and parts that are no more, and the checkpoints '
    'that no longer hold. changed_from events of the effective log are as they were; new_position now stand; NULL for '
    'both of an undo, after which one event less stands. gone_parts NULL: all parts that are not written go.';
