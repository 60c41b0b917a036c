"""The hunter: random and adversarial schedules in virtual time, under the oracle."""
