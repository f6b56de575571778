"""The areas of the replay, in the order in which they run. Each keeps to loci of its own."""

from cases import (
    absent,
    assess,
    b,
    board,
    canvas,
    comms,
    events,
    exchange,
    handoff,
    instructions,
    ledger,
    loci,
    meta,
    prompt,
    rollover,
    seat,
    session,
    todo,
)

AREAS = [
    area.AREA
    for area in (
        meta,
        ledger,
        todo,
        board,
        comms,
        handoff,
        session,
        loci,
        seat,
        rollover,
        canvas,
        instructions,
        prompt,
        events,
        exchange,
        assess,
        b,
        absent,
    )
]
