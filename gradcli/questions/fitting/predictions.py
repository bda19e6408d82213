"""What a fitted model predicts, with its errors: for the records, and over a column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, UsageError
from gradcli.formats.readers.whole_table import complete
from gradcli.questions.fitting.ended import Ended
from gradcli.questions.fitting.model import Model
from gradcli.questions.fitting.series import Series
from gradcli.questions.fitting.shares import Here, Share
from gradcli.views import FitCurve, FitPlot


def predicted(ended: Ended, titles: Sequence[str]) -> dict[str, Any]:
    """For each record some of its cells, then the fitted value, the residual, the error of the
    curve and that of one more observation; of several results with their names behind a dot.

    Raises:
        UsageError: If there is no observed value to predict.
    """
    asked = ended.asked
    if not asked.observed:
        text = "predictions need `--observed`"
        raise UsageError(Diagnostic("usage", text))
    share = _share(ended)
    columns: dict[str, Any] = {title: share.data.texts[title] for title in titles}
    for one, name in zip(share.series(ended.frame), (*asked.of,) or ("",), strict=True):
        behind = f".{name}" if len(asked.observed) > 1 else ""
        fitted, error = curve(ended, one.model)
        several = {
            "fitted": fitted,
            "residual": one.observed.values - fitted,
            "error": error,
            "prediction_error": np.hypot(error, spreads(ended, one)),
        }
        columns |= {f"{n}{behind}": _at_records(ended, one, x) for n, x in several.items()}
    return columns


def _share(ended: Ended) -> Share:
    """All records."""
    assert isinstance(ended.shares, Here), "they are in this process"
    return ended.shares.share(ended.setup)


def _at_records(ended: Ended, series: Series, numbers: Data) -> Data:
    """Numbers of one result for all records: nan at one that it is not compared with."""
    data = _share(ended).data
    if series.observed.data is data:
        return numbers
    found = np.full(data.count, np.nan)
    found[complete(*(data.columns[name] for name in series.observed.names))] = numbers
    return found


def curve(ended: Ended, model: Model) -> tuple[Data, Data]:
    """The values of a model at its records, and their errors from those of the parameters."""
    found = ended.best.found
    values, errors = [], []
    with np.errstate(all="ignore"):
        for _, (part, slopes, *_) in model.blocks(found.point):
            values.append(part)
            errors.append(np.sqrt(np.einsum("ij,jk,ik->i", slopes, found.covariance, slopes)))
    return np.concatenate(values), np.concatenate(errors)


def spreads(ended: Ended, series: Series) -> Data:
    """The standard deviation of one more observation at each record, about the curve."""
    found = ended.best.found
    scales = series.observed.scales(slice(0, len(series.observed.values)))
    dof = found.count - int(np.count_nonzero(found.moved))
    variance = found.factor
    if found.errors_from == "sandwich":
        variance = found.squares / dof if dof > 0 else np.nan
    with np.errstate(divide="ignore"):
        return np.asarray(np.sqrt(variance) / scales)


# pictures -----------------------------------------------------------------------------------------

_POINTS = 200  # of a curve


def drawn(ended: Ended) -> FitPlot:
    """What a picture shows: over the only column of the data the curve with its bands; over the
    fitted values of several columns the observed ones.

    Raises:
        UsageError: If there is nothing observed.
    """
    from gradcli.models.statistics import quantile

    asked = ended.asked
    if not asked.observed:
        raise UsageError(Diagnostic("usage", "a picture needs `--observed`"))
    ratio = quantile(asked.level, ended.best.found.dof)
    one = [name for name, shape in ended.facts.shapes.items() if not shape]
    over = one[0] if len(ended.roles.data) == len(one) == 1 else ""
    curves = []
    for series, name in zip(_share(ended).series(ended.frame), asked.observed, strict=True):
        model, values = series.model, series.observed.values
        several = spreads(ended, series)
        spread = ratio * float(np.median(several[np.isfinite(several)]))
        fitted, _ = curve(ended, model)
        x = series.observed.data.columns[over] if over else fitted
        if over:
            points, shown = model.over(over, _POINTS)
            height, error = curve(ended, shown)
        else:
            points = height = np.sort(fitted)[[0, -1]]
            error = np.zeros(0)
        half = ratio * error
        both = np.hypot(half, spread) if len(half) else half
        numbers = (x, values, values - fitted, points, height, half, both)
        curves.append(FitCurve(name, *(tuple(part.tolist()) for part in numbers)))
    return FitPlot(over or "fitted", asked.level, tuple(curves))
