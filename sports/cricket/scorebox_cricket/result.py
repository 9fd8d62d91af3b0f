"""The result (Law 16): computed where the figures decide it, given by the umpires where they do not."""

from collections.abc import Iterator

from scorebox_contract import Refusal, State
from scorebox_cricket.commands import GivenResult
from scorebox_cricket.innings import close
from scorebox_cricket.sheet import check_side, side_number
from scorebox_cricket.state import INCOMPLETE, Draft, Record, in_progress
from scorebox_cricket.target import main_innings, target_of
from scorebox_cricket.tie_break import BOWL_OUT, SUPER_OVER, decide_tie

BY_PENALTY_RUNS = "penalty runs"


def decide(state: State) -> Record | None:
    """The result that the figures tell, or None."""
    mains = main_innings(state)
    if not mains:
        return None
    result = _decide_innings(state, mains)
    if result is not None and result["kind"] == "tie":
        return decide_tie(state, result)
    return result


def _decide_innings(state: State, mains: list[Record]) -> Record | None:
    last = mains[-1]
    side: int = last["side"]
    complete = last["closed"] is not None and last["closed"] not in INCOMPLETE
    needed = target_of(state, last)
    if needed is not None and _is_last_of(state, mains, side):
        return _decide_chase(state, last, needed, complete)
    if not complete:
        return None
    runs, played = [0, 0], [0, 0]
    for totals in mains:
        runs[totals["side"]] += totals["runs"]
        played[totals["side"]] += 1
    innings_a_side = state["format"]["innings_a_side"]
    for loser in (0, 1):
        winner = 1 - loser
        if played[loser] == innings_a_side > played[winner] and runs[winner] > runs[loser]:
            return _won(winner, {"innings": 1, "runs": runs[winner] - runs[loser]})
    return None


def _is_last_of(state: State, mains: list[Record], side: int) -> bool:
    played = sum(1 for totals in mains if totals["side"] == side)
    return bool(played == state["format"]["innings_a_side"])


def _decide_chase(state: State, last: Record, needed: int, complete: bool) -> Record | None:
    method = (state["target"] or {}).get("method")
    side = last["side"]
    if last["runs"] >= needed:
        if complete and last["closed"] != "target" and last["runs"] - last["penalty"] < needed:
            # Law 16.7: the innings was over before penalty runs brought the side there.
            return _won(side, {}, method or BY_PENALTY_RUNS)
        left = state["format"]["players"] - 1 - last["wickets"]
        return _won(side, {"wickets": left} if left > 0 else {}, method)
    if not complete:
        return None
    short = needed - 1 - last["runs"]
    if short == 0:
        return {"kind": "tie", "winner": None, "margin": {}, "method": method, "given": False}
    return _won(1 - side, {"runs": short}, method)


def _won(winner: int, margin: dict[str, int], method: str | None = None) -> Record:
    return {"kind": "won", "winner": winner, "margin": margin, "method": method, "given": False}


def settle_result(draft: Draft) -> None:
    """Puts the computed result into the state; a given one stands, with a warning if figures differ."""
    state, old = draft.state, draft.result
    computed, new = decide(state), state["result"]
    if new is None or not new["given"]:
        new = state["result"] = computed
    elif computed is not None and (field := _contradiction(computed, new)) is not None:
        sentence = f"The figures say otherwise: {result_text(state, computed)}."
        draft.warn("result_contradicts", sentence, field)
    if new != old:
        draft.emits.append(
            "match_reopened" if new is None else "match_end" if old is None else "result_changed"
        )


def check_result(state: State, given: GivenResult) -> Iterator[Refusal]:
    """Refuses a win without a winner, a winner where nobody wins, and a margin that is none."""
    kind = given.kind.replace("_", " ")
    if given.winner is not None:
        yield from check_side(state, given.winner, "winner")
        if given.kind not in ("won", "tie"):
            yield Refusal("no_winner", f"A match with the result {kind} has no winner.", "winner")
    elif given.kind == "won":
        yield Refusal("winner_missing", "Which side won?", "winner")
    yield from _check_margin(given, kind)


def _check_margin(given: GivenResult, kind: str) -> Iterator[Refusal]:
    """Law 16.7: a win is by an innings and runs, by runs or by wickets; nothing else has a margin."""
    for name in ("innings", "runs", "wickets"):
        number = getattr(given, name)
        if number is not None and given.kind != "won":
            yield Refusal("margin", f"A match with the result {kind} has no margin.", name)
        if number == 0:
            yield Refusal("no_margin", f"Nobody wins by 0 {name}.", name, overridable=True)
    if given.wickets is not None and (given.runs is not None or given.innings is not None):
        yield Refusal("margin", "A win is by runs or by wickets, not by both.", "wickets")


def give_result(draft: Draft, given: GivenResult) -> None:
    """The umpires' result replaces a computed one; where it says less, it keeps the margin. Play ends."""
    state = draft.state
    winner = None if given.winner is None else side_number(state, given.winner)
    numbers = {"innings": given.innings, "runs": given.runs, "wickets": given.wickets}
    margin = {name: number for name, number in numbers.items() if number is not None}
    method = given.method
    computed = decide(state)
    agrees = computed is not None and computed["kind"] == given.kind and computed["winner"] == winner
    if computed is not None and agrees and not margin and method in (None, computed["method"]):
        margin, method = computed["margin"], computed["method"]
    state["result"] = {
        "kind": given.kind,
        "winner": winner,
        "margin": margin,
        "method": method,
        "given": True,
    }
    if in_progress(state):
        close(draft, "result")


def _contradiction(computed: Record, given: Record) -> str | None:
    """The field in which a given result differs from the figures, or None.

    A tie may be decided by a method that the figures do not know.
    """
    winner = computed["winner"]
    if computed["kind"] == "tie" and given["method"] is not None and winner in (None, given["winner"]):
        return None
    for name in ("kind", "winner"):
        if computed[name] != given[name]:
            return name
    margin: dict[str, int] = given["margin"]
    return next(iter(margin)) if margin and margin != computed["margin"] else None


def result_text(state: State, result: Record) -> str:
    """The line a reader sees: "England won by 5 wickets (D/L method)"."""
    kind, method = result["kind"], result["method"]
    name = None if result["winner"] is None else state["sides"][result["winner"]]["name"]
    if kind == "tie":
        if method in (SUPER_OVER, BOWL_OUT) and name is not None:
            return f"Match tied ({name} won the {method})"
        if name is not None:
            return f"Match tied ({name} won{f', {method_text(method)}' if method else ''})"
        text = "Match tied"
    elif kind == "won":
        if method == BY_PENALTY_RUNS:
            return f"{name} won by penalty runs"
        margin = margin_text(result["margin"])
        text = f"{name} won by {margin}" if margin else f"{name} won"
    else:
        text = {"draw": "Match drawn", "no_result": "No result", "abandoned": "Match abandoned"}[kind]
    return text if method is None else f"{text} ({method_text(method)})"


def margin_text(margin: dict[str, int]) -> str:
    """ "8 runs", "1 wicket", "an innings and 46 runs"; empty without a margin."""
    parts = ["an innings"] if margin.get("innings") else []
    for unit in ("runs", "wickets"):
        number = margin.get(unit)
        if number is not None:
            parts.append(f"{number} {unit[:-1] if number == 1 else unit}")
    return " and ".join(parts)


def method_text(method: str) -> str:
    """ "D/L method" for a named method, "lost fewer wickets" for a description."""
    if method.replace("/", "").isupper():
        return f"{method} method"
    return method if method[:2].isupper() else method[:1].lower() + method[1:]
