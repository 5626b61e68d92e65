"""Switch limbs between FK and IK without visible movement."""
