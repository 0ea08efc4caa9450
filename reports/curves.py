"""The curves of a run as CSV, for a plot of one's own: a row a point."""

import csv
import io

from rnnbounds.reports.records.record import Run

NAME = "curves.csv"
COLUMNS = ("claim", "form", "against", "at", "largest_seen", "bound")


def curves_csv(run: Run) -> bytes:
    """UTF-8 in the order of the page; numbers are the record's, to the last digit.

    Columns: claim, form; `against` is k, N or T and `at` its value; the largest left side that was
    seen there, and the bound of that very check.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for claim in run.claims:
        for form in claim.forms:
            if form.curve is not None:
                row_head = (claim.id, form.name, form.curve.against)
                writer.writerows((*row_head, p.at, p.lhs, p.rhs) for p in form.curve.points)
    return text.getvalue().encode()
