"""Confidence sequences: intervals for results that grow night by night and are looked at every night.

==================  ==============================================================================================
`records`           what one night contributes: an estimate with its variance, or a rate with its numbers of trials
`boundaries`        how far a running estimate may be from the truth at any look
`sequence`          `confidence_sequence`, from a list of records
`state`             the file that keeps the records of several rules between nights
==================  ==============================================================================================
"""
