"""The curves of a run as CSV."""

from msgspec.structs import replace

from rnnbounds.reports.curves import curves_csv
from rnnbounds.reports.records.checks import Curve, Point


def test_a_row_a_point(run):
    """Numbers as the record has them; forms without a curve have no row."""
    curve = Curve(
        against="k",
        points=(Point(at=0, lhs=0.1 + 0.2, rhs=0.5), Point(at=3, lhs=5e-324, rhs=1e300)),
    )
    (claim, *_) = run.claims
    form = replace(claim.forms[0], name="a, b", curve=curve)
    bare = replace(claim.forms[0], name="bare", curve=None)
    lines = curves_csv(replace(run, claims=(replace(claim, forms=(bare, form)),))).decode()
    assert lines.splitlines() == [
        "claim,form,against,at,largest_seen,bound",
        f'{claim.id},"a, b",k,0,0.30000000000000004,0.5',
        f'{claim.id},"a, b",k,3,5e-324,1e+300',
    ]
