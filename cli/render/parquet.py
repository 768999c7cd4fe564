"""Parquet, for other programs."""

import io

import polars as pl


def parquet_bytes(frame: pl.DataFrame) -> bytes:
    """The frame as a Parquet file; NaN is written as missing, as in the other formats for programs."""
    columns = [series.fill_nan(None) if series.dtype.is_float() else series for series in frame.iter_columns()]
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer, compression="zstd")
    return buffer.getvalue()
