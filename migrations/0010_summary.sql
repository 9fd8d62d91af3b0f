-- The saved summary goes: the head of the document says the same, so it was written twice with every command. With it
-- the row of a long match was also larger than half a page, and compressed anew with every command.

ALTER TABLE scoreboard DROP COLUMN summary;
ALTER TYPE commit_item DROP ATTRIBUTE summary;

CREATE OR REPLACE FUNCTION commit_item(item commit_item, n bigint) RETURNS commit_outcome LANGUAGE plpgsql AS $$
DECLARE
    board record;
    seq   bigint := item.expect_seq + 1;
BEGIN
    -- Somebody else's lock is not waited for.
    SELECT f.last_seq, f.first_day, f.sport_id, f.competition_id, f.format_code,
           b.epoch, b.position + CASE WHEN item.quiet THEN 0 ELSE 1 END AS position, b.code_sha,
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
       SET last_seq = seq,
           status = CASE WHEN item.quiet THEN f.status ELSE item.status END,
           result = CASE WHEN item.quiet THEN f.result ELSE item.result::jsonb END,
           results_official = coalesce(item.official, false), updated_at = now()
     WHERE f.id = item.match;
    UPDATE scoreboard b
       SET snapshot = item.state::json, last_seq = seq,
           events_seq = CASE WHEN item.quiet THEN b.events_seq ELSE seq END,
           position = board.position, state_hash = item.state_hash, updated_at = now()
     WHERE b.fixture_id = item.match;
    IF board.position % 50 = 0 AND item.quiet IS NOT TRUE THEN
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
    IF board.decided AND item.result IS NULL AND item.quiet IS NOT TRUE THEN
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
COMMENT ON FUNCTION commit_item IS
    'Saves one command whole. A quiet one changes no event: the match stands at the same position, and nobody who '
    'saw the newest event is behind.';
