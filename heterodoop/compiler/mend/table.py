"""Which drafts a code has. What has none needs a program written otherwise, or nothing helps: `hdcodes` says which."""

from __future__ import annotations

from collections.abc import Iterator

from . import calls, control, types
from .scene import Draft, Maker, Scene

DRAFTS: dict[str, tuple[Maker, ...]] = {
    "HD202": (control.directive,),
    "HD210": (control.all_fields, control.tested, control.newline_before, control.fresh),
    "HD212": (control.break_,),
    "HD213": (control.return_,),
    "HD214": (control.exit_,),
    "HD218": (types.array_itself,),
    "HD219": (calls.plain_memory,),
    "HD221": (calls.other_numbers,),
    "HD222": (calls.no_locale,),
    "HD226": (control.block,),
    "HD227": (control.given,),
    "HD228": (control.end_of_input, control.all_fields),
    "HD229": (calls.literal_format,),
    "HD232": (calls.message,),
    "HD233": (types.printed,),
    "HD234": (calls.needless,),
    "HD236": (types.scanned,),
    "HD237": (types.shorter,),
    "HD238": (types.whole_member,),
    "HD239": (types.bytes_pointer,),
    "HD251": (types.initialised,),
    "HD261": (control.returned,),
    "HD262": (calls.appended,),
    "HD266": (control.all_fields,),
    "HD304": (types.plain_layout,),
    "HD305": (calls.no_header,),
    "HD330": (calls.declared, types.whole_member, types.shorter),
}


def drafts(scene: Scene) -> Iterator[Draft]:
    """What may mend a refusal, best first."""
    for make in DRAFTS.get(scene.reason.code, ()):
        yield from make(scene)
