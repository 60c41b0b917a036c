"""Spark over the trace: tables, statistics, audit at scale, report. Alone imports pyspark."""
